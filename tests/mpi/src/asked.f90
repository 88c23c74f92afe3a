! A message that was sent before a barrier is seen by the first test or probe behind it, through "use mpi".
program asked
  use mpi
  implicit none
  character(*), parameter :: name = 'asked'
  integer, parameter :: rounds = 100
  integer :: rank, failed, error, round, request, window, group, received, one
  integer :: status(MPI_STATUS_SIZE), handle, origin, target_, memory(4)
  integer(kind=MPI_ADDRESS_KIND) :: bytes, place
  logical :: seen(4)
  integer :: missed(4)

  include 'asked_body.inc'
end program
