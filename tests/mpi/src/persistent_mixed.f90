! A persistent allreduce that is made in C and completed in Fortran, through "use mpi" and "use mpi_f08", among
! persistent messages. For Open MPI, whose handles differ between the languages and whose Fortran functions call none of
! the C ones. Where there is no MPI_Allreduce_init (Open MPI 4 without Espalier) the messages are left.
module made_in_c
  use, intrinsic :: iso_c_binding
  use mpi
  implicit none
  abstract interface
    integer(c_int) function allreduce_init(send, receive, count, type, op, comm, info, request) bind(C)
      import
      type(c_ptr), value :: send, receive, type, op, comm, info
      integer(c_int), value :: count
      type(c_ptr), intent(out) :: request
    end function
    type(c_ptr) function to_c(handle) bind(C)
      import
      integer(c_int), value :: handle
    end function
    integer(c_int) function to_fortran(handle) bind(C)
      import
      type(c_ptr), value :: handle
    end function
  end interface
  interface
    type(c_funptr) function dlsym(library, name) bind(C)
      import
      type(c_ptr), value :: library
      character(kind=c_char), intent(in) :: name(*)
    end function
  end interface
contains
  type(c_ptr) function c_handle(converter, handle)
    character(len=*), intent(in) :: converter
    integer, intent(in) :: handle
    procedure(to_c), pointer :: convert

    call c_f_procpointer(dlsym(c_null_ptr, converter // c_null_char), convert)
    c_handle = convert(handle)
  end function

  ! MPI_REQUEST_NULL where it cannot be made.
  integer function allreduce(numbers, sums)
    integer, target, asynchronous, intent(inout) :: numbers(:), sums(:)
    procedure(allreduce_init), pointer :: make
    procedure(to_fortran), pointer :: convert
    type(c_funptr) :: found
    type(c_ptr) :: request
    integer :: code

    allreduce = MPI_REQUEST_NULL
    found = dlsym(c_null_ptr, "MPI_Allreduce_init" // c_null_char)
    if (.not. c_associated(found)) return
    call c_f_procpointer(found, make)
    call c_f_procpointer(dlsym(c_null_ptr, "MPI_Request_c2f" // c_null_char), convert)
    code = make(c_loc(numbers), c_loc(sums), size(sums), c_handle("MPI_Type_f2c", MPI_INTEGER), &
                c_handle("MPI_Op_f2c", MPI_SUM), c_handle("MPI_Comm_f2c", MPI_COMM_WORLD), &
                c_handle("MPI_Info_f2c", MPI_INFO_NULL), request)
    allreduce = convert(request)
  end function
end module

module through_mpi
  use mpi
  implicit none
contains
  ! How often each completed; sources of the messages that were received.
  subroutine complete(how, requests, done, source)
    character(len=*), intent(in) :: how
    integer, intent(inout) :: requests(3), done(3), source
    integer :: status(MPI_STATUS_SIZE), statuses(MPI_STATUS_SIZE, 3), indices(3), index, out, k, error
    logical :: ready

    ready = .false.
    do while (.not. ready)
      out = 0
      index = 1
      ready = .true.
      if (how == "wait") call MPI_Wait(requests(2), status, error)
      if (how == "wait" .or. how == "waitall") call MPI_Waitall(3, requests, statuses, error)
      if (how == "test") call MPI_Test(requests(1), ready, MPI_STATUS_IGNORE, error)
      if (how == "test" .and. ready) call MPI_Waitall(2, requests(2:3), statuses(:, 2:3), error)
      if (how == "testall") call MPI_Testall(3, requests, ready, statuses, error)
      if (how == "waitany") call MPI_Waitany(3, requests, index, status, error)
      if (how == "testany") call MPI_Testany(3, requests, index, ready, status, error)
      if (how == "waitsome") call MPI_Waitsome(3, requests, out, indices, statuses, error)
      if (how == "testsome") call MPI_Testsome(3, requests, out, indices, statuses, error)
      if (how == "wait") statuses(:, 2) = status
      if (how(5:) == "any") then
        if (ready .and. index /= MPI_UNDEFINED) done(index) = done(index) + 1
        if (ready .and. index == 2) source = status(MPI_SOURCE)
        ready = ready .and. index == MPI_UNDEFINED
      else if (how(5:) == "some") then
        do k = 1, out
          done(indices(k)) = done(indices(k)) + 1
          if (indices(k) == 2) source = statuses(MPI_SOURCE, k)
        end do
        ready = out == MPI_UNDEFINED
      else if (ready) then
        done = 1
        source = statuses(MPI_SOURCE, 2)
      end if
    end do
  end subroutine

  subroutine start(requests)
    integer, intent(inout) :: requests(3)
    integer :: k, first, error

    first = merge(2, 1, requests(1) == MPI_REQUEST_NULL)
    call MPI_Startall(1, requests(first:first), error)
    do k = first + 1, 3
      call MPI_Start(requests(k), error)
    end do
  end subroutine
end module

module through_f08
  use mpi_f08
  implicit none
contains
  subroutine complete(how, requests, done, source)
    character(len=*), intent(in) :: how
    type(MPI_Request), intent(inout) :: requests(3)
    integer, intent(inout) :: done(3), source
    type(MPI_Status) :: status, statuses(3)
    integer :: indices(3), index, out, k
    logical :: ready

    ready = .false.
    do while (.not. ready)
      out = 0
      index = 1
      ready = .true.
      if (how == "wait") call MPI_Wait(requests(2), status)
      if (how == "wait" .or. how == "waitall") call MPI_Waitall(3, requests, statuses)
      if (how == "test") call MPI_Test(requests(1), ready, MPI_STATUS_IGNORE)
      if (how == "test" .and. ready) call MPI_Waitall(2, requests(2:3), statuses(2:3))
      if (how == "testall") call MPI_Testall(3, requests, ready, statuses)
      if (how == "waitany") call MPI_Waitany(3, requests, index, status)
      if (how == "testany") call MPI_Testany(3, requests, index, ready, status)
      if (how == "waitsome") call MPI_Waitsome(3, requests, out, indices, statuses)
      if (how == "testsome") call MPI_Testsome(3, requests, out, indices, statuses)
      if (how == "wait") statuses(2) = status
      if (how(5:) == "any") then
        if (ready .and. index /= MPI_UNDEFINED) done(index) = done(index) + 1
        if (ready .and. index == 2) source = status%MPI_SOURCE
        ready = ready .and. index == MPI_UNDEFINED
      else if (how(5:) == "some") then
        do k = 1, out
          done(indices(k)) = done(indices(k)) + 1
          if (indices(k) == 2) source = statuses(k)%MPI_SOURCE
        end do
        ready = out == MPI_UNDEFINED
      else if (ready) then
        done = 1
        source = statuses(2)%MPI_SOURCE
      end if
    end do
  end subroutine

  subroutine start(requests)
    type(MPI_Request), intent(inout) :: requests(3)
    integer :: k, first

    first = merge(2, 1, requests(1)%MPI_VAL == MPI_REQUEST_NULL%MPI_VAL)
    call MPI_Startall(1, requests(first:first))
    do k = first + 1, 3
      call MPI_Start(requests(k))
    end do
  end subroutine
end module

program persistent
  use mpi
  use made_in_c, only: allreduce
  use through_mpi, only: complete, start
  use through_f08, only: complete_f08 => complete, start_f08 => start
  use mpi_f08, only: Request => MPI_Request
  implicit none
  integer, parameter :: many = 3000, ways = 8, rounds = 4
  character(len=8), parameter :: names(ways) = [character(len=8) :: "wait", "waitall", "waitany", "waitsome", "test", &
                                                "testall", "testany", "testsome"]
  integer, target, asynchronous :: numbers(many), sums(many)
  integer, asynchronous :: arrived, told
  integer :: requests(3), done(3), right(3), rank, ranks, left, source, way, round, i, failed, all_failed, error
  type(Request) :: typed(3)

  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  failed = 0
  left = modulo(rank - 1, ranks)
  requests(1) = allreduce(numbers, sums)
  call MPI_Recv_init(arrived, 1, MPI_INTEGER, left, 1, MPI_COMM_WORLD, requests(2), error)
  call MPI_Send_init(told, 1, MPI_INTEGER, modulo(rank + 1, ranks), 1, MPI_COMM_WORLD, requests(3), error)
  do way = 1, ways
    do round = 1, rounds
      numbers = [(i + rank + round, i = 1, many)]
      sums = -1
      told = rank * round
      arrived = -1
      done = 0
      source = -1
      typed%MPI_VAL = requests
      if (modulo(round, 2) == 0) then
        call start(requests)
        call complete(trim(names(way)), requests, done, source)
      else
        call start_f08(typed)
        call complete_f08(trim(names(way)), typed, done, source)
        call expect(all(typed%MPI_VAL == requests), names(way) // " leaves the handles")
      end if
      right = [merge(0, 1, requests(1) == MPI_REQUEST_NULL), 1, 1]
      if (names(way)(5:) /= "any" .and. names(way)(5:) /= "some") right = 1
      call expect(all(done == right), names(way) // " completes each once")
      call expect(source == left .and. arrived == left * round, names(way) // " and the message")
      if (requests(1) /= MPI_REQUEST_NULL) then
        call expect(all(sums == [(ranks * (i + round) + ranks * (ranks - 1) / 2, i = 1, many)]), names(way))
      end if
    end do
  end do
  do i = 1, 3
    if (requests(i) /= MPI_REQUEST_NULL) call MPI_Request_free(requests(i), error)
    call expect(requests(i) == MPI_REQUEST_NULL, "freed")
  end do
  call MPI_Reduce(failed, all_failed, 1, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, error)
  if (rank == 0) print '(a, i0, a)', "persistent_mixed.f90: ", all_failed, " failed"
  call MPI_Finalize(error)
  if (failed > 0) stop 1
contains
  subroutine expect(good, what)
    logical, intent(in) :: good
    character(len=*), intent(in) :: what

    if (good) return
    failed = failed + 1
    print '(3a, i0)', "FAILED ", what, " on rank ", rank
  end subroutine
end program
