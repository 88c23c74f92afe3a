! What MPI_Error_string says in Fortran of ranks that disagree.
program error_words
  implicit none
  include 'mpif.h'
  integer :: error, rank, comm, code, length, error_class
  integer :: given(8), got(8)
  character(len=MPI_MAX_ERROR_STRING) :: words
  given = 0
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_dup(MPI_COMM_WORLD, comm, error)
  call MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN, error)
  call MPI_Allreduce(given, got, 4 + rank, MPI_INTEGER, MPI_SUM, comm, code)
  if (code == MPI_SUCCESS) call MPI_Barrier(comm, code)
  call MPI_Error_class(code, error_class, error)
  call MPI_Error_string(code, words, length, error)
  print '(a,i0,a,l1,a,a)', 'rank ', rank, ': ', error_class == MPI_ERR_OTHER, ': ', words(1:length)
  call MPI_Comm_free(comm, error)
  call MPI_Finalize(error)
end program
