"""Machines, ranks and trees as text."""

from __future__ import annotations

from typing import Any

from rich.markup import escape
from rich.tree import Tree

from espalier.topo.machine import ranges

Json = dict[str, Any]


def _shape(domain: Json) -> tuple:
    return (domain["level"], tuple(_shape(child) for child in domain.get("children", [])))


def machine(topology: Json) -> Tree:
    """Nested domains. Neighbours of one shape that hold nothing more share a line."""
    result = Tree(f"{topology['level']} [dim]cpus {escape(ranges(topology['cpus']))}[/dim]")
    _add_domains(result, topology.get("children", []))
    return result


def _add_domains(parent: Tree, domains: list[Json]) -> None:
    at = 0
    while at < len(domains):
        domain = domains[at]
        alike = [other for other in domains[at:] if _shape(other) == _shape(domain)]
        if not domain.get("children") and len(alike) == len(domains) - at > 1:
            first, last = ranges(domain["cpus"]), ranges(alike[-1]["cpus"])
            parent.add(f"{len(alike)} × {domain['level']} [dim]cpus {escape(first)} … {escape(last)}[/dim]")
            return
        branch = parent.add(f"{domain['level']} [dim]cpus {escape(ranges(domain['cpus']))}[/dim]")
        _add_domains(branch, domain.get("children", []))
        at += 1


def groups(group: Json) -> Tree:
    result = Tree(_group_line(group))
    _add_groups(result, group)
    return result


def _group_line(group: Json) -> str:
    return f"{group['level']} [dim]ranks {ranges(group['ranks'])}[/dim]"


def _add_groups(parent: Tree, group: Json) -> None:
    for inner in group.get("groups", []):
        _add_groups(parent.add(_group_line(inner)), inner)


def rank_tree(tree: Json) -> Tree:
    """A gather or release tree over ranks, children in their order."""
    children: list[list[int]] = tree["children"]
    result = Tree(f"rank {tree['root']} [dim]root[/dim]")
    waiting: list[tuple[Tree, int]] = [(result, tree["root"])]
    while waiting:
        branch, rank = waiting.pop()
        for child in children[rank]:
            waiting.append((branch.add(f"rank {child}"), child))
    return result


def depths(tree: Json) -> list[int]:
    """Steps from the root, by rank."""
    result = [0] * len(tree["children"])
    order = [tree["root"]]
    for rank in order:
        for child in tree["children"][rank]:
            result[child] = result[rank] + 1
            order.append(child)
    return result
