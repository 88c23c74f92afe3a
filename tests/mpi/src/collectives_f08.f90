! All collectives through "use mpi_f08", with typed handles and without the optional error argument at times.
program collectives
  use mpi_f08
  use, intrinsic :: iso_c_binding
  implicit none
  integer, parameter :: many = 5000
  integer, parameter :: few = 50 ! MPICH 4.0.2 crashes in longer reductions in place at other roots than 0
  integer :: rank, ranks, root, i, failed, all_failed, error
  integer :: numbers(many), sums(many), pair(2), best(2)
  double precision :: real_numbers(many), real_sums(many)
  logical :: mine, everyone
  complex :: c, csum

  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  failed = 0

  call MPI_Barrier(MPI_COMM_WORLD)
  do root = 0, ranks - 1
    numbers = -1
    if (rank == root) numbers = [(i * 3 + root, i = 1, many)]
    call MPI_Bcast(numbers, many, MPI_INTEGER, root, MPI_COMM_WORLD)
    call expect(all(numbers == [(i * 3 + root, i = 1, many)]), "bcast")

    numbers = [(i + rank, i = 1, many)]
    sums = -1
    call MPI_Reduce(numbers, sums, many, MPI_INTEGER, MPI_SUM, root, MPI_COMM_WORLD)
    if (rank == root) call expect(all(sums == [(ranks * i + ranks * (ranks - 1) / 2, i = 1, many)]), "reduce")

    sums = numbers
    if (rank == root) then
      call MPI_Reduce(MPI_IN_PLACE, sums, few, MPI_INTEGER, MPI_MAX, root, MPI_COMM_WORLD)
      call expect(all(sums(1:few) == [(i + ranks - 1, i = 1, few)]), "reduce in place")
    else
      call MPI_Reduce(sums, numbers, few, MPI_INTEGER, MPI_MAX, root, MPI_COMM_WORLD)
    end if
  end do

  real_numbers = [(dble(i + rank), i = 1, many)]
  call MPI_Allreduce(real_numbers, real_sums, many, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, error)
  call expect(all(real_sums == [(dble(ranks * i + ranks * (ranks - 1) / 2), i = 1, many)]), "allreduce")
  call MPI_Allreduce(MPI_IN_PLACE, real_numbers, many, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, error)
  call expect(all(real_sums == real_numbers), "allreduce in place")

  mine = rank /= 0
  call MPI_Allreduce(mine, everyone, 1, MPI_LOGICAL, MPI_LAND, MPI_COMM_WORLD, error)
  call expect(.not. everyone, "allreduce of logicals, and")
  call MPI_Allreduce(mine, everyone, 1, MPI_LOGICAL, MPI_LOR, MPI_COMM_WORLD, error)
  call expect(everyone .eqv. ranks > 1, "allreduce of logicals, or")

  c = cmplx(rank, -1)
  call MPI_Allreduce(c, csum, 1, MPI_COMPLEX, MPI_SUM, MPI_COMM_WORLD, error)
  call expect(csum == cmplx(ranks * (ranks - 1) / 2, -ranks), "allreduce of complex numbers")

  pair = [mod(rank + 1, ranks), rank]
  call MPI_Allreduce(pair, best, 1, MPI_2INTEGER, MPI_MAXLOC, MPI_COMM_WORLD, error)
  call expect(all(best == [ranks - 1, mod(ranks - 2 + ranks, ranks)]), "allreduce of pairs")

  call check_blocks()
  call check_unequal_blocks()
  call check_layouts()
  call check_prefixes()
  call check_allocated()

  call MPI_Reduce(failed, all_failed, 1, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, error)
  if (rank == 0) print '(a, i0, a)', "collectives_f08.f90: ", all_failed, " failed"
  call MPI_Finalize(error)
  if (failed > 0) stop 1
contains
  ! What rank `source` sends to rank `target`.
  elemental integer function told(source, target, i)
    integer, intent(in) :: source, target, i
    told = 1000000 * source + 1000 * target + i
  end function

  subroutine check_blocks()
    integer, parameter :: n = 7
    integer :: out(n * ranks), in(n * ranks), r, target

    out = [((told(rank, target, i), i = 1, n), target = 0, ranks - 1)]
    in = -1
    call MPI_Alltoall(out, n, MPI_INTEGER, in, n, MPI_INTEGER, MPI_COMM_WORLD)
    call expect(all(in == [((told(r, rank, i), i = 1, n), r = 0, ranks - 1)]), "alltoall")
    in = out
    call MPI_Alltoall(MPI_IN_PLACE, n, MPI_INTEGER, in, n, MPI_INTEGER, MPI_COMM_WORLD, error)
    call expect(all(in == [((told(r, rank, i), i = 1, n), r = 0, ranks - 1)]), "alltoall in place")

    out(1:n) = [(told(rank, 0, i), i = 1, n)]
    in = -1
    call MPI_Allgather(out, n, MPI_INTEGER, in, n, MPI_INTEGER, MPI_COMM_WORLD)
    call expect(all(in == [((told(r, 0, i), i = 1, n), r = 0, ranks - 1)]), "allgather")
    in = -1
    in(rank * n + 1:rank * n + n) = out(1:n)
    call MPI_Allgather(MPI_IN_PLACE, n, MPI_INTEGER, in, n, MPI_INTEGER, MPI_COMM_WORLD, error)
    call expect(all(in == [((told(r, 0, i), i = 1, n), r = 0, ranks - 1)]), "allgather in place")

    do root = 0, ranks - 1
      out(1:n) = [(told(rank, 0, i), i = 1, n)]
      in = -1
      call MPI_Gather(out, n, MPI_INTEGER, in, n, MPI_INTEGER, root, MPI_COMM_WORLD)
      if (rank == root) call expect(all(in == [((told(r, 0, i), i = 1, n), r = 0, ranks - 1)]), "gather")
      in = -1
      in(rank * n + 1:rank * n + n) = out(1:n)
      if (rank == root) then
        call MPI_Gather(MPI_IN_PLACE, n, MPI_INTEGER, in, n, MPI_INTEGER, root, MPI_COMM_WORLD, error)
        call expect(all(in == [((told(r, 0, i), i = 1, n), r = 0, ranks - 1)]), "gather in place")
      else
        call MPI_Gather(out, n, MPI_INTEGER, in, n, MPI_INTEGER, root, MPI_COMM_WORLD)
      end if
      out = [((told(root, target, i), i = 1, n), target = 0, ranks - 1)]
      in = -1
      call MPI_Scatter(out, n, MPI_INTEGER, in, n, MPI_INTEGER, root, MPI_COMM_WORLD, error)
      call expect(all(in(1:n) == [(told(root, rank, i), i = 1, n)]), "scatter")
      in = -1
      if (rank == root) then
        call MPI_Scatter(out, n, MPI_INTEGER, MPI_IN_PLACE, n, MPI_INTEGER, root, MPI_COMM_WORLD)
        call expect(all(out(rank * n + 1:rank * n + n) == [(told(root, rank, i), i = 1, n)]), "scatter in place")
      else
        call MPI_Scatter(out, n, MPI_INTEGER, in, n, MPI_INTEGER, root, MPI_COMM_WORLD, error)
        call expect(all(in(1:n) == [(told(root, rank, i), i = 1, n)]), "scatter, in place elsewhere")
      end if
    end do
  end subroutine

  ! Block r has r elements (the first is empty); blocks lie in reverse, with one integer between.
  subroutine check_unequal_blocks()
    integer :: counts(ranks), places(ranks), own(ranks), far(ranks), r
    integer :: out(ranks * (ranks + 1)), in(ranks * (ranks + 1)), right(ranks * (ranks + 1))

    counts = [(r, r = 0, ranks - 1)]
    places = [(sum(counts(r + 2:)) + ranks - 1 - r, r = 0, ranks - 1)]
    out(1:ranks) = [(told(rank, 0, i), i = 1, ranks)]
    right = -1
    do r = 0, ranks - 1
      right(places(r + 1) + 1:places(r + 1) + r) = [(told(r, 0, i), i = 1, r)]
    end do
    in = -1
    call MPI_Allgatherv(out, rank, MPI_INTEGER, in, counts, places, MPI_INTEGER, MPI_COMM_WORLD)
    call expect(all(in == right), "allgatherv")
    in = -1
    in(places(rank + 1) + 1:places(rank + 1) + rank) = out(1:rank)
    call MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_INTEGER, in, counts, places, MPI_INTEGER, MPI_COMM_WORLD, error)
    call expect(all(in == right), "allgatherv in place")
    do root = 0, ranks - 1
      in = -1
      call MPI_Gatherv(out, rank, MPI_INTEGER, in, counts, places, MPI_INTEGER, root, MPI_COMM_WORLD)
      if (rank == root) call expect(all(in == right), "gatherv")
      in = -1
      call MPI_Scatterv(right, counts, places, MPI_INTEGER, in, rank, MPI_INTEGER, root, MPI_COMM_WORLD, error)
      call expect(all(in(1:rank) == out(1:rank)) .and. all(in(rank + 1:) == -1), "scatterv")
    end do

    ! Each rank sends r integers to rank r.
    own = rank
    far = [(r * (rank + 1), r = 0, ranks - 1)]
    out = -1
    right = -1
    do r = 0, ranks - 1
      out(places(r + 1) + 1:places(r + 1) + r) = [(told(rank, r, i), i = 1, r)]
      right(far(r + 1) + 1:far(r + 1) + rank) = [(told(r, rank, i), i = 1, rank)]
    end do
    in = -1
    call MPI_Alltoallv(out, counts, places, MPI_INTEGER, in, own, far, MPI_INTEGER, MPI_COMM_WORLD)
    call expect(all(in == right), "alltoallv")
  end subroutine

  ! Each rank sends told(rank, r, 1 .. 3) to rank r, every second integer of the buffer; and the same on a ring.
  subroutine check_layouts()
    integer, parameter :: n = 3
    integer :: out(2 * n * ranks), in(2 * n * ranks), right(2 * n * ranks), r, e
    integer :: counts(ranks), places(ranks), edge_counts(2), near(2)
    integer(MPI_ADDRESS_KIND) :: edge_places(2)
    type(MPI_Datatype) :: types(ranks), edge_types(2), every_second
    type(MPI_Comm) :: ring, graph

    call MPI_Type_vector(n, 1, 2, MPI_INTEGER, every_second, error)
    call MPI_Type_commit(every_second, error)
    counts = 1
    places = [(8 * n * r, r = 0, ranks - 1)]
    do r = 1, ranks
      types(r) = every_second
    end do
    out = -2
    right = -1
    do r = 0, ranks - 1
      out(2 * n * r + 1:2 * n * r + 2 * n:2) = [(told(rank, r, i), i = 1, n)]
      right(2 * n * r + 1:2 * n * r + 2 * n:2) = [(told(r, rank, i), i = 1, n)]
    end do
    in = -1
    call MPI_Alltoallw(out, counts, places, types, in, counts, places, types, MPI_COMM_WORLD)
    call expect(all(in == right), "alltoallw")
    in = out
    where (in == -2) in = -1
    call MPI_Alltoallw(MPI_IN_PLACE, counts, places, types, in, counts, places, types, MPI_COMM_WORLD, error)
    call expect(all(in == right), "alltoallw in place")

    call MPI_Cart_create(MPI_COMM_WORLD, 1, [ranks], [.true.], .false., ring, error)
    near = [mod(rank + ranks - 1, ranks), mod(rank + 1, ranks)]
    do e = 1, 2
      out(n * e - n + 1:n * e) = [(told(rank, e, i), i = 1, n)]
      ! What goes one way comes in from the other.
      right(n * e - n + 1:n * e) = [(told(near(e), 3 - e, i), i = 1, n)]
    end do
    right(2 * n + 1:) = -1
    in = -1
    call MPI_Neighbor_alltoall(out, n, MPI_INTEGER, in, n, MPI_INTEGER, ring)
    call expect(all(in == right), "neighbor_alltoall")
    in = -1
    edge_counts = n
    call MPI_Neighbor_alltoallv(out, edge_counts, [0, n], MPI_INTEGER, in, edge_counts, [0, n], MPI_INTEGER, ring, error)
    call expect(all(in == right), "neighbor_alltoallv")
    ! On a graph: MPICH 4.0's own binding of this one takes every communicator for one of a graph.
    call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, near, [1, 1], 2, [near(2), near(1)], [1, 1], MPI_INFO_NULL, &
                                        .false., graph, error)
    do e = 1, 2
      right(n * e - n + 1:n * e) = [(told(near(e), e, i), i = 1, n)]
    end do
    in = -1
    edge_places = [0, 4 * n]
    edge_types = [MPI_INTEGER, MPI_INTEGER]
    call MPI_Neighbor_alltoallw(out, edge_counts, edge_places, edge_types, in, edge_counts, edge_places, edge_types, graph)
    call expect(all(in == right), "neighbor_alltoallw")
    call MPI_Comm_free(graph, error)
    do e = 1, 2
      right(n * e - n + 1:n * e) = [(told(near(e), 1, i), i = 1, n)]
    end do
    in = -1
    call MPI_Neighbor_allgather(out, n, MPI_INTEGER, in, n, MPI_INTEGER, ring, error)
    call expect(all(in == right), "neighbor_allgather")
    in = -1
    call MPI_Neighbor_allgatherv(out, n, MPI_INTEGER, in, edge_counts, [0, n], MPI_INTEGER, ring)
    call expect(all(in == right), "neighbor_allgatherv")
    call MPI_Comm_free(ring, error)
    call MPI_Type_free(every_second, error)
  end subroutine

  subroutine check_prefixes()
    integer :: own(ranks), got(ranks), counts(ranks), r

    own = [(rank + i, i = 1, ranks)]
    got = -1
    call MPI_Scan(own, got, ranks, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
    call expect(all(got == [((rank + 1) * i + rank * (rank + 1) / 2, i = 1, ranks)]), "scan")
    got = own
    call MPI_Scan(MPI_IN_PLACE, got, ranks, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
    call expect(all(got == [((rank + 1) * i + rank * (rank + 1) / 2, i = 1, ranks)]), "scan in place")
    got = -1
    call MPI_Exscan(own, got, ranks, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
    if (rank > 0) call expect(all(got == [(rank * i + rank * (rank - 1) / 2, i = 1, ranks)]), "exscan")

    got = -1
    call MPI_Reduce_scatter_block(own, got, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
    call expect(got(1) == ranks * (rank + 1) + ranks * (ranks - 1) / 2, "reduce_scatter_block")
    got = own
    call MPI_Reduce_scatter_block(MPI_IN_PLACE, got, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
    call expect(got(1) == ranks * (rank + 1) + ranks * (ranks - 1) / 2, "reduce_scatter_block in place")
    counts = 0
    counts(ranks) = ranks
    got = -1
    call MPI_Reduce_scatter(own, got, counts, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
    if (rank == ranks - 1) then
      call expect(all(got == [(ranks * i + ranks * (ranks - 1) / 2, i = 1, ranks)]), "reduce_scatter")
    else
      call expect(all(got == -1), "reduce_scatter of nothing")
    end if
  end subroutine

  ! Memory of MPI, which must go back the way it came.
  subroutine check_allocated()
    integer, parameter :: long = 50000
    integer(MPI_ADDRESS_KIND) :: bytes
    type(c_ptr) :: place
    double precision, pointer :: own(:), total(:)
    integer :: turn
    bytes = 8 * long
    do turn = 1, 3
      call MPI_Alloc_mem(bytes, MPI_INFO_NULL, place)
      call c_f_pointer(place, own, [long])
      call MPI_Alloc_mem(bytes, MPI_INFO_NULL, place)
      call c_f_pointer(place, total, [long])
      own = rank + turn
      call MPI_Allreduce(own, total, long, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD)
      call expect(all(total == ranks * turn + ranks * (ranks - 1) / 2), "allreduce of memory of MPI_Alloc_mem")
      call MPI_Free_mem(own)
      call MPI_Free_mem(total)
    end do
  end subroutine

  subroutine expect(right, what)
    logical, intent(in) :: right
    character(*), intent(in) :: what
    if (right) return
    failed = failed + 1
    print '(3a, i0)', "FAILED ", what, " on rank ", rank
  end subroutine
end program
