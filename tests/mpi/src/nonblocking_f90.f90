! Nonblocking collectives through "use mpi", completed in every way, among messages.
! "-waitany" leaves a way out, for hosts that have it wrong.
program nonblocking
  use mpi
  implicit none
  character(*), parameter :: name = 'nonblocking_f90.f90'
  integer :: requests(6), started(13), status(MPI_STATUS_SIZE), statuses(MPI_STATUS_SIZE, 6)
  integer, allocatable :: types(:)
  include 'nonblocking_body.inc'
contains
  integer function source_of(which)
    integer, intent(in) :: which(MPI_STATUS_SIZE)
    source_of = which(MPI_SOURCE)
  end function
  integer function source_at(k)
    integer, intent(in) :: k
    source_at = statuses(MPI_SOURCE, k)
  end function
  logical function left_out(way_name)
    character(len=*), intent(in) :: way_name
    character(len=20) :: argument
    integer :: n

    left_out = .false.
    do n = 1, command_argument_count()
      call get_command_argument(n, argument)
      if (argument == "-" // way_name) left_out = .true.
    end do
  end function
end program
