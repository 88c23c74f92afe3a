! A message that was sent before a barrier is seen by the first test or probe behind it, through "use mpi_f08".
program asked
  use mpi_f08
  implicit none
  character(*), parameter :: name = 'asked_f08'
  integer, parameter :: rounds = 100
  integer :: rank, failed, error, round, received, one, memory(4)
  type(MPI_Request) :: request
  type(MPI_Win) :: window
  type(MPI_Group) :: group, origin, target_
  type(MPI_Status) :: status
  type(MPI_Message) :: handle
  integer(kind=MPI_ADDRESS_KIND) :: bytes, place
  logical :: seen(4)
  integer :: missed(4)

  include 'asked_body.inc'
end program
