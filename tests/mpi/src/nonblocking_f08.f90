! Nonblocking collectives through "use mpi_f08", completed in every way, among messages.
! "-waitany" leaves a way out, for hosts that have it wrong.
program nonblocking
  use mpi_f08
  implicit none
  character(*), parameter :: name = 'nonblocking_f08.f90'
  type(MPI_Request) :: requests(6), started(13)
  type(MPI_Status) :: status, statuses(6)
  type(MPI_Datatype), allocatable :: types(:)
  include 'nonblocking_body.inc'
contains
  integer function source_of(which)
    type(MPI_Status), intent(in) :: which
    source_of = which%MPI_SOURCE
  end function
  integer function source_at(k)
    integer, intent(in) :: k
    source_at = statuses(k)%MPI_SOURCE
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
