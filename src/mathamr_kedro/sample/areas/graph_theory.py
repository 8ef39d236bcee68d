"""Graph theory: degrees, trees, colourings, planarity and counting."""

from __future__ import annotations

import random

from mathamr_kedro.sample.threads import Answer, AnswerTopic, FormulaTopic, Thread

_THREADS = (
    Thread(
        key="graph_theory/handshake",
        title=r"Handshake lemma: the number of odd vertices is even",
        question=r"""Let $G = (V, E)$ be a finite graph with vertices
$v_1, \dots, v_n$ of degrees $d_1, \dots, d_n$. I want to show that
$$\sum_{i=1}^{n} d_i = 2|E|$$
and that the number of vertices with odd degree is always even. I tried induction on
the number of vertices, but when I remove a vertex the degrees of its neighbors
change and it gets messy. Is there a better idea? What happens with loops?""",
        tags=("graph-theory", "combinatorics"),
        score=13,
        answers=(
            Answer(
                r"""Count the pairs $(v, e)$ where $e$ is an edge and $v$ is an end
point of $e$. If you group them by the vertex, you get $\sum_{v \in V} \deg(v)$. If
you group them by the edge, every edge contributes exactly $2$. So
$\sum_{v \in V} \deg(v) = 2|E|$.

For the second part split the sum into the even and the odd degrees. The total is
even and the even degrees sum up to an even number, so the sum of the odd degrees is
even. A sum of $k$ odd numbers is even only if $k$ is even. With the convention that
a loop adds $2$ to the degree everything remains true.""",
                accepted=True,
                score=21,
            ),
            Answer(
                r"""Your induction becomes easy if you remove edges instead of
vertices. For $|E| = 0$ all the degrees are $0$ and both claims are clear. Adding an
edge $\{u, v\}$ raises $\deg(u)$ and $\deg(v)$ by $1$, so the sum
$\sum_{i=1}^{n} d_i$ grows by $2$. And the number of odd vertices changes by $+2$,
by $-2$ or by $0$, depending on the parity of the two degrees before. In all the
cases it stays even.""",
                score=10,
                comments=(r"This also explains the name: shake hands one by one.",),
            ),
        ),
    ),
    Thread(
        key="graph_theory/tree-edges",
        title=r"A tree with $n$ vertices has $n - 1$ edges",
        question=r"""A tree is a connected graph without cycles. I would like to
prove that a tree with $n$ vertices has exactly $n - 1$ edges. My idea is induction:
remove a leaf and apply the hypothesis to the rest. But why does a tree with
$n \geq 2$ vertices have a leaf, i.e. a vertex $v$ with $\deg(v) = 1$? And is the
converse true: does $|E| = |V| - 1$ make a graph a tree?""",
        tags=("graph-theory", "trees", "induction"),
        score=12,
        answers=(
            Answer(
                r"""Existence of a leaf: take a longest path $v_0 v_1 \dots v_k$ in
the tree. If $v_0$ had another neighbor $w \neq v_1$, then either $w$ is on the
path, which gives a cycle, or it is not, and the path could be made longer. Both are
impossible, so $\deg(v_0) = 1$.

Removing the leaf leaves a graph which is still connected and has no cycle, that is
a tree with $n - 1$ vertices. By induction it has $n - 2$ edges, and with the
removed edge we get $n - 1$.

The converse fails: a triangle plus an isolated vertex satisfies
$|E| = 3 = |V| - 1$. You need connectedness as well.""",
                accepted=True,
                score=18,
            ),
            Answer(
                r"""Another proof builds the tree edge by edge. Start with $n$
isolated vertices, so with $n$ components. Each edge of the tree that we put in
joins two *different* components, because otherwise it would close a cycle. So each
edge lowers the number of components by exactly $1$, and we end with $1$ component.
Hence there are $n - 1$ edges.

The same count shows: if $G$ is connected and $|E| = |V| - 1$, then no edge was
wasted, so no edge closes a cycle, and $G$ is a tree.""",
                score=15,
            ),
            Answer(
                r"""For the complete picture, here are equivalent conditions for a
graph with $n$ vertices:

- $G$ is connected and has no cycle;
- $G$ is connected and $|E| = n - 1$;
- $G$ has no cycle and $|E| = n - 1$;
- any two vertices $u \neq v$ are joined by exactly one path.

To see that the second implies the first: if there were a cycle, remove one of its
edges. The graph stays connected with $n - 2$ edges, but a connected graph needs at
least $n - 1$ edges, a contradiction.""",
                score=9,
            ),
        ),
    ),
    Thread(
        key="graph_theory/edges-and-components",
        title=r"Graph with $n$ vertices and $m$ edges has at least $n - m$ components",
        question=r"""Let $G$ be a graph with $n$ vertices, $m$ edges and $c$
connected components. I want to show that $c \geq n - m$, and I would like to know
what it means for the graph if we have equality. I have checked it for small cases,
for instance $n = 4$ and $m = 2$ gives at least $2$ components. In the extreme case
$m = 0$ every vertex is a component of its own. Does it also follow that a graph
with $m \geq n$ must contain a cycle?""",
        tags=("graph-theory", "connectedness", "trees"),
        score=6,
        answers=(
            Answer(
                r"""Put in the edges one by one. Without edges there are $n$
components. A new edge either joins two components, and then their number drops by
$1$, or it runs inside one component, and then the number stays the same and the
edge closes a cycle. So after $m$ edges there are at least $n - m$ components.
Equality $c = n - m$ holds if and only if no edge ever closed a cycle, that is if
$G$ is a forest. In particular a connected graph ($c = 1$) has $m \geq n - 1$, with
equality exactly for trees.""",
                accepted=True,
                score=10,
            ),
            Answer(
                r"""For your last question: yes. A forest with $c$ components has
$m = n - c \leq n - 1$ edges, because each of its trees has one edge less than it
has vertices. So $m \geq n$ is impossible without a cycle. One calls $m - n + c$ the
cyclomatic number or first Betti number of the graph; it is the number of edges that
you have to remove to destroy all the cycles, and it is the dimension of the cycle
space over $\mathbb{F}_2$.""",
                score=5,
            ),
        ),
        related=("graph_theory/tree-edges",),
    ),
    Thread(
        key="graph_theory/regular-graphs",
        title=r"For which $n$ and $k$ is there a $k$-regular graph on $n$ vertices?",
        question=r"""A simple graph is called $k$-regular if every vertex has degree
$k$. I am looking for all pairs $(n, k)$ such that a $k$-regular graph with $n$
vertices exists. Clearly $k \leq n - 1$ is necessary. For $k = 2$ one can take the
cycle $C_n$ with $n \geq 3$. For $k = 3$ I found examples with $n = 4$ and $n = 6$
but none with $n = 5$. Is there another condition that I have overlooked?""",
        tags=("graph-theory", "regular-graphs"),
        score=7,
        answers=(
            Answer(
                r"""Yes, the product $nk$ has to be even. Adding up all the degrees
counts every edge twice, so $nk = 2|E|$. That is why there is no $3$-regular graph
on $5$ vertices, or on any odd number of vertices: it would have $\frac{3n}{2}$
edges, which is not an integer.

Conversely, if $nk$ is even and $k \leq n - 1$, there is always one. Put the
vertices on a circle. For even $k$ join each vertex to the $\frac{k}{2}$ nearest
ones on both sides. For odd $k$ the number $n$ is even; do the same with $k - 1$ and
add the edges between opposite points.""",
                accepted=True,
                score=12,
            ),
            Answer(
                r"""You can also get the even case from number theory: let the
vertices be the elements of $\mathbb{Z}/n\mathbb{Z}$ and join $x$ with $x \pm s$ for
all $s \in S$, where $S \subseteq \{1, \dots, \lfloor n/2 \rfloor\}$. These are the
circulant graphs. Each $s < \frac{n}{2}$ contributes $2$ to the degree and
$s = \frac{n}{2}$, possible for even $n$ only, contributes $1$. So all the degrees
$k \leq n - 1$ with $nk$ even can be reached.""",
                score=4,
            ),
        ),
        related=("graph_theory/handshake",),
    ),
    Thread(
        key="graph_theory/bipartite-odd-cycle",
        title=r"A graph is bipartite iff it has no odd cycle",
        question=r"""One direction is clear to me: in a bipartite graph with parts
$A$ and $B$ every walk alternates between the parts, so a closed walk has even
length. For the other direction I start at a vertex $s$ and put $v$ into $A$ if the
distance $d(s, v)$ is even, and into $B$ if it is odd. Why are there no edges inside
$A$? If $u, v \in A$ are adjacent I get a closed walk of odd length, but not
necessarily a *cycle*.""",
        tags=("graph-theory", "bipartite-graphs"),
        score=10,
        answers=(
            Answer(
                r"""You only need one more lemma: every closed walk of odd length
contains an odd cycle. Proof by induction on the length. If no vertex is repeated
(except start and end), the walk is a cycle itself. Otherwise a vertex $x$ occurs
twice, and we can split the walk at $x$ into two shorter closed walks with lengths
$\ell_1 + \ell_2 = \ell$. As $\ell$ is odd, one of $\ell_1, \ell_2$ is odd, and we
apply the induction hypothesis to it.

So an edge $uv$ inside $A$ gives a closed walk of length $d(s,u) + 1 + d(s,v)$,
which is odd, and hence an odd cycle.""",
                accepted=True,
                score=14,
            ),
            Answer(
                r"""Alternatively avoid the lemma by a careful choice. Take shortest
paths from $s$ to $u$ and from $s$ to $v$ inside one breadth first search tree, and
let $w$ be their last common vertex. After $w$ the two paths are disjoint, so
together with the edge $uv$ they form an honest cycle. Its length is
$$(d(s,u) - d(s,w)) + (d(s,v) - d(s,w)) + 1,$$
and $d(s,u) + d(s,v)$ is even, so the length is odd. For a graph that is not
connected do this in each component.""",
                score=9,
            ),
        ),
    ),
    Thread(
        key="graph_theory/k5-not-planar",
        title=r"Using $E \leq 3V - 6$ to show that $K_5$ is not planar",
        question=r"""I know Euler's formula $V - E + F = 2$ for connected plane
graphs. My book derives from it that $E \leq 3V - 6$ for every simple planar graph
with $V \geq 3$, and then that $K_5$ is not planar. I do not understand where the
factor $3$ comes from. And for $K_{3,3}$ we have $E = 9$ and $3V - 6 = 12$, so the
inequality is satisfied although $K_{3,3}$ is not planar. What now?""",
        tags=("graph-theory", "planar-graphs"),
        score=11,
        answers=(
            Answer(
                r"""We may assume that the graph is connected, since adding edges
between components only makes $E$ larger. In a simple connected plane graph with at
least three vertices every face is bounded by at least $3$ edges, and every edge is
on the boundary of at most two faces (or counted twice for one face). Counting pairs
of faces and edges gives $3F \leq 2E$. Insert $F \leq \frac{2}{3} E$ into Euler's
formula:
$$2 = V - E + F \leq V - E + \frac{2}{3} E = V - \frac{1}{3} E,$$
that is $E \leq 3V - 6$. For $K_5$ we have
$E = \binom{5}{2} = 10 > 9 = 3 \cdot 5 - 6$, so it is not planar.""",
                accepted=True,
                score=16,
            ),
            Answer(
                r"""For $K_{3,3}$ use that it is bipartite. There are no triangles,
so every face has at least $4$ edges, and $4F \leq 2E$. The same calculation now
gives the better bound
$$E \leq 2V - 4.$$
But $K_{3,3}$ has $E = 9 > 8 = 2 \cdot 6 - 4$. In general, if the shortest cycle has
length $g$, then $E \leq \frac{g}{g-2}(V - 2)$. The inequalities are only necessary
conditions, the exact criterion is Kuratowski's theorem.""",
                score=12,
            ),
        ),
    ),
    Thread(
        key="graph_theory/same-degree",
        title=r"Two people with the same number of friends at a party",
        question=r"""Show that in every group of $n \geq 2$ people there are two who
have the same number of friends in the group (friendship is mutual). In the language
of graphs: a simple graph with $n \geq 2$ vertices has two vertices of equal degree.
The degrees are numbers from $0$ to $n - 1$, so there are $n$ possible values for
$n$ vertices, and the pigeonhole principle just misses. How do I gain one?""",
        tags=("graph-theory", "pigeonhole-principle"),
        score=9,
        answers=(
            Answer(
                r"""The values $0$ and $n - 1$ cannot occur together: a vertex of
degree $n - 1$ is adjacent to all the others, so there is no vertex of degree $0$.
So the degrees lie either in $\{0, 1, \dots, n - 2\}$ or in
$\{1, 2, \dots, n - 1\}$. Both sets have $n - 1$ elements, and now the pigeonhole
principle gives two vertices $u \neq v$ with $\deg(u) = \deg(v)$. For multigraphs
the statement is false.""",
                accepted=True,
                score=15,
            ),
            Answer(
                r"""A variation which sends home the people without friends. If
nobody has $0$ friends, the $n$ degrees are among $1, \dots, n - 1$ and two of them
coincide. If two people have $0$ friends, we are done. If exactly one person has $0$
friends, send that person home. The others keep their number of friends, there are
$n - 1$ of them and all have at least one friend, so we are in the first case (with
$n - 1 \geq 2$ people; for $n = 2$ this situation does not occur).""",
                score=4,
            ),
        ),
    ),
    Thread(
        key="graph_theory/ramsey-six",
        title=r"Why is $R(3, 3) = 6$?",
        question=r"""Among six people there are always three who know each other or
three who are strangers to each other. In graph language: if the edges of $K_6$ are
coloured red and blue, then there is a triangle in one colour. I have seen this
written as $R(3, 3) \leq 6$, where $R(s, t)$ is the Ramsey number. Could you give me
the proof, and also explain why five people are not enough, so that $R(3, 3) = 6$?""",
        tags=("graph-theory", "ramsey-theory", "pigeonhole-principle"),
        score=10,
        answers=(
            Answer(
                r"""Fix a vertex $v$. It has $5$ edges in two colours, so at least
$\lceil \frac{5}{2} \rceil = 3$ of them have the same colour, say $va$, $vb$ and
$vc$ are red. Look at the triangle $abc$. If one of its edges is red, for example
$ab$, then $vab$ is a red triangle. If none is red, then $abc$ is a blue triangle.

For five people colour the edges of a pentagon red and the five diagonals blue. Both
colours form a cycle of length $5$, and $C_5$ has no triangle. So $R(3, 3) > 5$.""",
                accepted=True,
                score=18,
            ),
            Answer(
                r"""There is also a counting proof which gives more. Call a pair of
differently coloured edges at a common vertex a *mixed angle*. A vertex with $r$ red
and $5 - r$ blue edges has $r(5 - r) \leq 6$ mixed angles, so there are at most $36$
in total. Every triangle that is not in one colour has exactly $2$ mixed angles, so
there are at most $18$ such triangles. But $K_6$ has $\binom{6}{3} = 20$ triangles,
so at least *two* of them are in one colour.""",
                score=13,
            ),
        ),
    ),
    Thread(
        key="graph_theory/euler-circuit",
        title=r"Eulerian circuits: why is it enough that all degrees are even?",
        question=r"""A connected graph has a closed walk that uses every edge
exactly once if and only if every degree is even. The necessity is easy: each time
the walk passes through a vertex $v$ it uses $2$ of its edges, so $\deg(v)$ is even.
But why is it sufficient? If I start walking and never use an edge twice, I may come
back to the start too early, with some edges left over. And what about the bridges
of Königsberg, with degrees $5, 3, 3, 3$?""",
        tags=("graph-theory", "eulerian-path"),
        score=8,
        answers=(
            Answer(
                r"""Coming back too early is not a problem, you can insert a detour.
Start at $v$ and walk until you are stuck. Because all degrees are even, you can
only be stuck at $v$, so you have a closed walk $W$. If some edges are unused, then
by connectedness one of them touches a vertex $u$ of $W$. After removing the edges
of $W$ all the degrees are still even, so you can start at $u$ and get a closed walk
$W'$ of unused edges. Splice $W'$ into $W$ at $u$ and repeat. Each round uses more
edges, so the procedure ends with all of $E$.

In Königsberg there are four odd vertices. An open Eulerian trail may have at most
two (its ends), so there is no solution of any kind.""",
                accepted=True,
                score=14,
            ),
            Answer(
                r"""Or take a longest closed trail $W$ and show that it contains all
the edges. If not, connectedness gives an unused edge $e = uw$ with $u$ on $W$. In
the graph $G' = G - E(W)$ all degrees are even and $\deg_{G'}(u) \geq 2$. Walk along
unused edges from $u$ until you are stuck; by parity this happens at $u$. Now go
around $W$ from $u$ to $u$ and then around the new closed trail: this is a longer
closed trail than $W$, a contradiction. For an Eulerian trail with different ends
$a \neq b$ add the edge $ab$ first, so exactly two odd degrees are allowed.""",
                score=6,
            ),
        ),
    ),
    Thread(
        key="graph_theory/complement-connected",
        title=r"If $G$ is disconnected then $\overline{G}$ is connected",
        question=r"""Let $G$ be a simple graph and let $\overline{G}$ be its
complement, so that $uv \in E(\overline{G})$ iff $uv \notin E(G)$ for $u \neq v$. I
have to prove that at least one of $G$ and $\overline{G}$ is connected. I was
thinking about counting edges, because $|E(G)| + |E(\overline{G})| = \binom{n}{2}$,
so one of them has at least $\frac{1}{2}\binom{n}{2}$ edges. But a graph with many
edges can still be disconnected.""",
        tags=("graph-theory", "connectedness"),
        score=7,
        answers=(
            Answer(
                r"""Counting does not help here, but a direct argument does. Suppose
$G$ is not connected and let $u, v$ be two vertices. We look for a path in
$\overline{G}$.

1. If $u$ and $v$ are in different components of $G$, they are joined in $\overline{G}$.
2. If they are in the same component, pick $w$ in another component of $G$.

In the second case $uw$ and $wv$ are edges of $\overline{G}$, so $u, w, v$ is a
path. Hence $\overline{G}$ is connected, and any two vertices have distance at most
$2$ in it.""",
                accepted=True,
                score=12,
            ),
            Answer(
                r"""Another way to say the same thing: if $G$ is disconnected, then
its vertices split as $V = A \cup B$ with $A, B \neq \emptyset$ and no edge of $G$
between the parts. So $\overline{G}$ contains the complete bipartite graph $K_{a,b}$
with $a = |A|$ and $b = |B|$ on all the vertices, and $K_{a,b}$ is connected. Note
that both $G$ and $\overline{G}$ can be connected at the same time, the smallest
nontrivial example is the path $P_4$, which is isomorphic to its complement.""",
                score=8,
            ),
        ),
    ),
    Thread(
        key="graph_theory/walks-adjacency",
        title=r"Why does $(A^k)_{ij}$ count walks of length $k$?",
        question=r"""Let $A$ be the adjacency matrix of a graph with vertices
$1, \dots, n$, so $a_{ij} = 1$ if $i$ and $j$ are adjacent and $a_{ij} = 0$
otherwise. I read that the entry $(A^k)_{ij}$ is the number of walks of length $k$
from $i$ to $j$. For $k = 1$ this is the definition. How does the induction step
work? And is it true that the number of triangles is
$\frac{1}{6} \operatorname{tr}(A^3)$?""",
        tags=("graph-theory", "matrices", "algebraic-graph-theory"),
        score=11,
        answers=(
            Answer(
                r"""Write the matrix product as a sum:
$$(A^{k+1})_{ij} = \sum_{m=1}^{n} (A^k)_{im}\, a_{mj}.$$
By induction $(A^k)_{im}$ counts the walks of length $k$ from $i$ to $m$, and
$a_{mj}$ is $1$ exactly if such a walk can be continued by the edge $mj$. Every walk
of length $k + 1$ from $i$ to $j$ has exactly one vertex $m$ in the last place
before $j$, so the sum counts each walk once.

For the triangles: $\operatorname{tr}(A^3)$ counts closed walks of length $3$. Each
triangle gives $6$ of them, from $3$ starting points in $2$ directions.""",
                accepted=True,
                score=17,
            ),
            Answer(
                r"""A small example to see it at work. For the path with three
vertices
$$A = \begin{pmatrix} 0 & 1 & 0 \\ 1 & 0 & 1 \\ 0 & 1 & 0 \end{pmatrix}, \qquad
A^2 = \begin{pmatrix} 1 & 0 & 1 \\ 0 & 2 & 0 \\ 1 & 0 & 1 \end{pmatrix}.$$
The entry $(A^2)_{22} = 2$ counts the walks $2, 1, 2$ and $2, 3, 2$. In general the
diagonal of $A^2$ contains the degrees, so $\operatorname{tr}(A^2) = 2|E|$. There
are no triangles here, and indeed $\operatorname{tr}(A^3) = 0$.""",
                score=8,
            ),
        ),
    ),
    Thread(
        key="graph_theory/greedy-colouring",
        title=r"Prove $\chi(G) \leq \Delta(G) + 1$",
        question=r"""Let $\Delta(G)$ be the maximum degree of a finite graph $G$ and
let $\chi(G)$ be its chromatic number. How do I show that
$$\chi(G) \leq \Delta(G) + 1$$
holds? For the complete graph we have $\chi(K_n) = n$ and $\Delta(K_n) = n - 1$, so
the bound cannot be improved in general. For a star with $n$ leaves it is very bad,
because $\chi = 2$ and $\Delta = n$. Is there a better bound?""",
        tags=("graph-theory", "coloring"),
        score=8,
        answers=(
            Answer(
                r"""Colour greedily. Order the vertices $v_1, \dots, v_n$ in any way
and colour them one after the other with the smallest colour that is not used by a
neighbor. When we come to $v_i$, at most $\deg(v_i) \leq \Delta(G)$ colours are
forbidden, so one of the colours $1, 2, \dots, \Delta(G) + 1$ is free. That is all.

With a clever order you can do better: if every subgraph has a vertex of degree at
most $d$ (the graph is $d$-degenerate), then $\chi(G) \leq d + 1$. For the star
$d = 1$, which gives the right answer $2$.""",
                accepted=True,
                score=13,
            ),
            Answer(
                r"""The complete answer to when equality holds is Brooks' theorem:
for a connected graph $\chi(G) \leq \Delta(G)$, unless $G$ is a complete graph $K_n$
or an odd cycle $C_{2m+1}$. You can also prove your bound by induction on the number
of vertices: remove a vertex $v$, colour $G - v$ with $\Delta(G) + 1$ colours, and
observe that the neighbors of $v$ use at most $\Delta(G)$ of them. A lower bound is
the clique number, $\omega(G) \leq \chi(G)$.""",
                score=7,
            ),
        ),
    ),
    Thread(
        key="graph_theory/chromatic-polynomial",
        title=r"Chromatic polynomial $P(G, k)$ of trees and cycles",
        question=r"""Let $P(G, k)$ be the number of proper colourings of $G$ with
$k$ colours. For a tree $T$ with $n$ vertices I think that $P(T, k) = k(k-1)^{n-1}$.
For the cycle $C_n$ the answer in my notes is
$$P(C_n, k) = (k-1)^n + (-1)^n (k-1),$$
but there is no proof. If I colour the cycle vertex by vertex, the last vertex has
two coloured neighbors and I do not know whether their colours are equal.""",
        tags=("graph-theory", "coloring", "polynomials"),
        score=8,
        answers=(
            Answer(
                r"""Use deletion and contraction: for an edge $e$ we have
$P(G, k) = P(G - e, k) - P(G / e, k)$, because the colourings of $G - e$ in which
the ends of $e$ have the same colour correspond to colourings of $G / e$. For a
cycle, $C_n - e$ is a path and $C_n / e = C_{n-1}$, so
$$P(C_n, k) = k(k-1)^{n-1} - P(C_{n-1}, k).$$
Now induction: if $P(C_{n-1}, k) = (k-1)^{n-1} + (-1)^{n-1}(k-1)$, then the
difference is $(k-1)^{n-1}(k - 1) + (-1)^n (k-1)$, as claimed. Start with the
triangle, where $P(C_3, k) = k(k-1)(k-2)$. Your formula for trees follows by
attaching leaves one by one.""",
                accepted=True,
                score=11,
            ),
            Answer(
                r"""The signs in the formula come from an eigenvalue. Proper
colourings of $C_n$ with $k$ colours are closed walks of length $n$ in the complete
graph $K_k$, one colour per step. So
$$P(C_n, k) = \operatorname{tr}(A^n),$$
where $A$ is the adjacency matrix of $K_k$. Its eigenvalues are $k - 1$ (once) and
$-1$ (with multiplicity $k - 1$), and the trace is the sum of their $n$-th powers,
$(k-1)^n + (k-1)(-1)^n$. No induction and no case distinction for the last vertex is
needed.""",
                score=9,
            ),
        ),
    ),
)

_SPANNING_QUESTIONS = (
    r"""How many spanning trees does the complete bipartite graph $K_{%(m)d,%(n)d}$
have? For the complete graph I know Cayley's formula $n^{n-2}$, but I did not find
anything for bipartite graphs in my notes. The graph has $%(v)d$ vertices and
$%(e)d$ edges, so a spanning tree has $%(te)d$ edges, and trying all the subsets of
this size by hand is not an option, although a computer could do it.""",
    r"""I have to compute $\tau(K_{%(m)d,%(n)d})$, the number of spanning trees,
with Kirchhoff's matrix tree theorem. The Laplacian $L = D - A$ has size
$%(v)d \times %(v)d$, with $%(n)d$ on the first $%(m)d$ diagonal places and $%(m)d$
on the others. Is there a trick for the determinant, or for the eigenvalues? I would
like to avoid expanding it by hand, since even after deleting one row and one column
it remains too large for me.""",
    r"""A network consists of $%(m)d$ servers and $%(n)d$ clients, and every server
is connected with every client, but there are no other cables. In how many ways can
we choose $%(te)d$ of the $%(e)d$ cables such that the network stays connected?
These are the spanning trees of $K_{%(m)d,%(n)d}$. A computer program gives me the
number $%(t)d$, is there a formula that explains it?""",
)

_SPANNING_ANSWERS = (
    r"""The formula is
$$\tau(K_{m,n}) = m^{n-1} n^{m-1},$$
so here $\tau(K_{%(m)d,%(n)d}) = %(m)d^{%(nm)d} \cdot %(n)d^{%(mm)d} = %(t)d$. It
can be proved with a bipartite version of Prüfer codes: delete leaves as usual and
write down their neighbors, separately for the two sides. You get one word of length
$n - 1$ over the side with $m$ vertices and one word of length $m - 1$ over the side
with $n$ vertices, and every pair of words occurs exactly once.""",
    r"""Use the eigenvalues of the Laplacian $L = D - A$. They are $0$ and $m + n$,
each once, then $n$ with multiplicity $m - 1$ (vectors that live on the first side
and have sum zero) and $m$ with multiplicity $n - 1$ (the same on the other side).
By Kirchhoff the number of spanning trees is the product of the nonzero eigenvalues
divided by the number of vertices:
$$\tau = \frac{(m + n) \cdot n^{m-1} \cdot m^{n-1}}{m + n} = m^{n-1} n^{m-1}.$$
For your graph this is $%(m)d^{%(nm)d} \cdot %(n)d^{%(mm)d} = %(t)d$.""",
    r"""Your program is right. In general $K_{m,n}$ has $m^{n-1} n^{m-1}$ spanning
trees, and $%(m)d^{%(nm)d} \cdot %(n)d^{%(mm)d} = %(p)d \cdot %(q)d = %(t)d$. A
quick plausibility check is the case $m = 1$: the star $K_{1,n}$ is itself a tree,
and the formula gives $1^{n-1} n^0 = 1$. For $m = 2$ you get $n 2^{n-1}$, and this
can be seen directly: exactly one client is connected to both servers, which can be
chosen in $n$ ways, and each of the other $n - 1$ clients chooses one server.""",
)

_DEGREE_QUESTIONS = (
    r"""Is there a simple graph with degree sequence $%(seq)s$? The sum of the
degrees is $%(sum)d$, which is even, so the handshake lemma does not exclude it. I
tried to draw it several times, starting with the vertex $v_1$ of degree
$%(first)d$, and at the end there was always a vertex with the wrong degree. Is
there a systematic method to decide such questions, and to find the graph if there
is one?""",
    r"""In an exam we had to decide whether the sequence $%(seq)s$ is graphical,
i.e. the degree sequence of a simple graph on $%(n)d$ vertices. I wrote: "the sum is
$%(sum)d = 2 \cdot %(half)d$, so there is a graph with $%(half)d$ edges". I got no
points for this. What is missing in the argument, and what would be a complete
solution?""",
    r"""I am looking at a club with $%(n)d$ members. When asked how many of the
others they know (knowing is mutual), they answer $%(seq)s$. Can all of them have
told the truth? The sum of the numbers is $%(sum)d$, so parity is fine. Somebody
mentioned the theorem of Havel and Hakimi, but I do not know how to apply it with
$d_1 = %(first)d$.""",
)

_DEGREE_ANSWERS = (
    r"""The systematic method is the Havel-Hakimi algorithm: a sequence
$d_1 \geq d_2 \geq \dots \geq d_n$ is graphical if and only if the sequence
$d_2 - 1, \dots, d_{d_1 + 1} - 1, d_{d_1 + 2}, \dots, d_n$ is. Sort and repeat:
$$%(steps)s$$
%(verdict)s Going through the steps backwards you connect each removed vertex with
the vertices whose numbers were lowered, and in this way you obtain a graph on
$%(n)d$ vertices when there is one.""",
    r"""An even sum is necessary but not sufficient, because a simple graph has no
loops and no multiple edges. Use Havel-Hakimi: delete the largest number $d$ and
subtract $1$ from the $d$ next largest ones. This does not change whether the
sequence is graphical.
$$%(steps)s$$
%(verdict)s Another criterion is the inequality of Erdős and Gallai,
$\sum_{i=1}^{k} d_i \leq k(k-1) + \sum_{i=k+1}^{n} \min(d_i, k)$ for all $k$.""",
    r"""Take the member with $d_1 = %(first)d$ acquaintances. The theorem says that
we may assume that these are the members with the largest remaining numbers. So
remove $d_1$ and lower the next $%(first)d$ entries by $1$, sort again, and
continue:
$$%(steps)s$$
%(verdict)s The point of the theorem is that this special choice of neighbors is no
loss of generality: two edges can always be exchanged without changing the degrees.""",
)


def _count_trees(m: int, n: int) -> int:
    """Count the spanning trees of a complete bipartite graph."""
    return int(m ** (n - 1) * n ** (m - 1))


def _ask_spanning_trees(rng: random.Random) -> list[Thread]:
    """Write questions on the spanning trees of complete bipartite graphs."""
    titles = (
        r"Number of spanning trees of $K_{%(m)d,%(n)d}$",
        r"Matrix tree theorem for $K_{%(m)d,%(n)d}$: eigenvalues of the Laplacian",
        r"Keeping a network of $%(m)d$ servers and $%(n)d$ clients connected",
    )
    threads = []
    for place, (m, n) in enumerate(((3, 4), (2, 5), (4, 5))):
        values = {
            "m": m,
            "n": n,
            "v": m + n,
            "e": m * n,
            "te": m + n - 1,
            "mm": m - 1,
            "nm": n - 1,
            "p": m ** (n - 1),
            "q": n ** (m - 1),
            "t": _count_trees(m, n),
        }
        other = _SPANNING_ANSWERS[0 if place == 1 else 1]
        threads.append(
            Thread(
                key=f"graph_theory/spanning-trees-{m}-{n}",
                title=titles[place] % values,
                question=_SPANNING_QUESTIONS[place] % values,
                tags=("graph-theory", "trees", "bipartite-graphs"),
                score=rng.randint(1, 8),
                answers=(
                    Answer(_SPANNING_ANSWERS[place] % values, accepted=True, score=8),
                    Answer(other % values, score=3),
                )[: 2 if place == 2 else 1],
            )
        )
    return threads


def _reduce_degrees(degrees: tuple[int, ...]) -> list[list[int]]:
    """Return the steps of Havel and Hakimi down to zeros or a negative number."""
    steps = [sorted(degrees, reverse=True)]
    while steps[-1][0] > 0 and steps[-1][-1] >= 0:
        first, *rest = steps[-1]
        lowered = [d - 1 if i < first else d for i, d in enumerate(rest)]
        steps.append(sorted(lowered, reverse=True))
    return steps


def _ask_degree_sequences(rng: random.Random) -> list[Thread]:
    """Write questions on graphical sequences."""
    titles = (
        r"Is there a simple graph with degrees $%(seq)s$?",
        r"Why is an even sum not enough for $%(seq)s$ to be graphical?",
        r"Can everybody have told the truth? Degree sequence $%(seq)s$",
    )
    cases = ((4, 4, 3, 3, 2, 2), (5, 5, 4, 3, 2, 1), (6, 3, 3, 2, 2, 2, 2))
    threads = []
    for place, degrees in enumerate(cases):
        steps = _reduce_degrees(degrees)
        verdict = (
            "The last sequence contains a negative number, so there is no such graph."
            if steps[-1][-1] < 0
            else "Only zeros are left, so such a graph exists."
        )
        values = {
            "seq": f"({', '.join(map(str, degrees))})",
            "n": len(degrees),
            "sum": sum(degrees),
            "half": sum(degrees) // 2,
            "first": degrees[0],
            "steps": r" \to ".join(f"({', '.join(map(str, s))})" for s in steps),
            "verdict": verdict,
        }
        threads.append(
            Thread(
                key=f"graph_theory/degrees-{'-'.join(map(str, degrees))}",
                title=titles[place] % values,
                question=_DEGREE_QUESTIONS[place] % values,
                tags=("graph-theory", "degree-sequences"),
                score=rng.randint(0, 6),
                answers=(
                    Answer(
                        _DEGREE_ANSWERS[place] % values,
                        accepted=place != 2,
                        score=rng.randint(2, 9),
                    ),
                ),
            )
        )
    return threads


def threads(rng: random.Random) -> list[Thread]:
    """Return the threads of the area."""
    return [*_THREADS, *_ask_spanning_trees(rng), *_ask_degree_sequences(rng)]


ANSWER_TOPICS = (
    AnswerTopic(
        key="graph_theory/topic-nine-players",
        title=r"Nine chess players, each plays exactly three of the others?",
        question=r"""We are organizing a small tournament with $9$ players and every
player should meet exactly $3$ of the others, once each. After many failed attempts
I think that it is impossible, but why? With $8$ or with $10$ players there was no
problem. If $d_i$ is the number of games of player $i$, then the sum
$$\sum_{i=1}^{9} d_i = 27$$
looks suspicious, but I cannot say what is wrong with it.""",
        tags=("graph-theory", "combinatorics", "recreational-mathematics"),
        grades={
            "graph_theory/handshake#1": 3,
            "graph_theory/handshake#2": 3,
            "graph_theory/regular-graphs#1": 3,
            "graph_theory/degrees-5-5-4-3-2-1#1": 1,
            "graph_theory/degrees-4-4-3-3-2-2#1": 1,
            "graph_theory/walks-adjacency#2": 1,
            "graph_theory/regular-graphs#2": 0,
            "graph_theory/same-degree#1": 0,
            "graph_theory/same-degree#2": 0,
            "graph_theory/ramsey-six#1": 0,
            "graph_theory/euler-circuit#1": 0,
            "graph_theory/tree-edges#1": 0,
            "graph_theory/k5-not-planar#1": 0,
            "probability/draw-4-6-3#1": 0,
            "set_theory_logic/surjections-6-4#1": 0,
        },
        category="Proof",
        difficulty="Low",
        dependency="Text",
    ),
    AnswerTopic(
        key="graph_theory/topic-one-edge-less",
        title=r"Connected with $|E| = |V| - 1$: can there still be a cycle?",
        question=r"""Suppose that a road network connects all the towns, and that
there is exactly one road less than there are towns, so $|E| = |V| - 1$. Somebody
claims that then there is only one way to drive between two towns without turning
back. Is it really impossible that the network contains a cycle? For a network
$G = (V, E)$ that is not connected I have a counterexample with $|V| = 4$, so
connectedness must be used. My first idea was to remove the roads one by one, from
$|V| - 1$ down to $0$.""",
        tags=("graph-theory", "trees"),
        grades={
            "graph_theory/tree-edges#3": 3,
            "graph_theory/tree-edges#2": 3,
            "graph_theory/edges-and-components#1": 3,
            "graph_theory/edges-and-components#2": 2,
            "graph_theory/tree-edges#1": 1,
            "graph_theory/spanning-trees-4-5#1": 0,
            "graph_theory/spanning-trees-2-5#1": 0,
            "graph_theory/k5-not-planar#1": 0,
            "graph_theory/k5-not-planar#2": 0,
            "graph_theory/euler-circuit#1": 0,
            "graph_theory/bipartite-odd-cycle#1": 0,
            "graph_theory/complement-connected#1": 0,
            "topology/genus-16-32-16#1": 0,
            "graph_theory/chromatic-polynomial#1": 0,
        },
        category="Proof",
        difficulty="Medium",
        dependency="Both",
    ),
)

FORMULA_TOPICS = (
    FormulaTopic(
        topic="graph_theory/topic-nine-players",
        latex=r"\sum_{i=1}^{9} d_i = 27",
        grades={
            r"\sum_{i=1}^{n} d_i = 2|E|": 3,
            r"\sum_{v \in V} \deg(v) = 2|E|": 3,
            r"nk = 2|E|": 3,
            r"\sum_{v \in V} \deg(v)": 2,
            r"\sum_{i=1}^{n} d_i": 2,
            r"\operatorname{tr}(A^2) = 2|E|": 1,
            r"d_1, \dots, d_n": 1,
            r"d_1 + d_2 + d_3": 0,
            r"d_1 + d_2 + d_3 = h": 0,
            r"E[T] = \sum_{i=1}^{n} \frac{n}{n-i+1} = n \sum_{j=1}^{n} \frac{1}{j} "
            r"= n H_n.": 0,
            r"k = \sum_{j=1}^{k} 1": 0,
            r"\binom{23}{2} = 253": 0,
            r"\sum_{t \mid d} \varphi(t) = d": 0,
        },
    ),
    FormulaTopic(
        topic="graph_theory/topic-one-edge-less",
        latex=r"|E| = |V| - 1",
        grades={
            r"|E| = |V| - 1": 3,
            r"|E| = n - 1": 3,
            r"|E| = 3 = |V| - 1": 2,
            r"m \geq n - 1": 2,
            r"c = n - m": 2,
            r"n - 1": 1,
            r"n - 2": 1,
            r"V - E + F = 2": 1,
            r"E \leq 3V - 6": 1,
            r"|E| = 0": 0,
            r"|B|^0 = 1": 0,
            r"|Z(G)| = p": 0,
            r"E \leq 2V - 4.": 0,
            r"|\mathbb{Q}| = |\mathbb{N}|": 0,
            r"\chi(G) \leq d + 1": 0,
            r"p\,E[X] = 1": 0,
        },
    ),
)
