/* A mistake that ThreadSanitizer has to find: two threads, each on a communicator of its own, receive into the same memory. */
#include <mpi.h>

#include <pthread.h>
#include <stdio.h>

static int received[64];

static void* receive(void* comm) {
  for (int i = 0; i < 20; ++i) MPI_Bcast(received, 64, MPI_INT, 0, *(MPI_Comm*)comm);
  return NULL;
}

int main(int argc, char** argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm one, other;
  MPI_Comm_dup(MPI_COMM_WORLD, &one);
  MPI_Comm_dup(MPI_COMM_WORLD, &other);
  pthread_t thread;
  pthread_create(&thread, NULL, receive, &other);
  receive(&one);
  pthread_join(thread, NULL);
  MPI_Comm_free(&one);
  MPI_Comm_free(&other);
  printf("one_buffer: done\n");
  MPI_Finalize();
  return provided < MPI_THREAD_MULTIPLE;
}
