/* Linked into the tests' programs for Intel MPI: usleep. On processors that do not say how fast their time stamp counter is
 * MPI_Init measures it for a quarter of a second, most of the time that a short job takes. Only MPI_Wtime goes by the
 * result, for which a fiftieth of a second is exact enough. */
#include <time.h>
#include <unistd.h>

int usleep(useconds_t microseconds) {
  const useconds_t calibration = 250000, enough = 20000;
  if (microseconds == calibration) microseconds = enough;
  const struct timespec time = {(time_t)(microseconds / 1000000), (long)(microseconds % 1000000) * 1000};
  return nanosleep(&time, NULL);
}
