"""Geometry: triangles, circles, coordinates and distances."""

from __future__ import annotations

import random
from fractions import Fraction
from math import isqrt, sqrt

from mathamr_kedro.sample.threads import Answer, AnswerTopic, FormulaTopic, Thread

_THREADS = (
    Thread(
        key="geometry/inscribed-angle",
        title=r"Why is the inscribed angle half of the central angle?",
        question=r"""Let $A$, $B$ and $P$ be points on a circle with center $O$. The
inscribed angle theorem says that $\angle AOB = 2 \angle APB$ when $P$ lies on the
larger arc. I can prove it if $O$ lies on the segment $PA$, because then the
triangle $OPB$ is isosceles. What do I do if the center lies inside the triangle
$ABP$, or even outside of it? Is there one proof for all the cases?""",
        tags=("geometry", "euclidean-geometry", "circles", "angle"),
        score=12,
        answers=(
            Answer(
                r"""Reduce everything to the case you know. Draw the diameter from
$P$ through $O$ and let $Q$ be its other end. By your special case
$\angle QOA = 2 \angle QPA$ and $\angle QOB = 2 \angle QPB$.

If $O$ is inside the triangle, then $Q$ lies between $A$ and $B$ on the arc and you
*add* the two equations:
$$\angle AOB = \angle QOA + \angle QOB = 2(\angle QPA + \angle QPB) = 2 \angle APB.$$
If $O$ is outside, you *subtract* them. With directed angles both cases are the same
calculation.""",
                accepted=True,
                score=17,
            ),
            Answer(
                r"""Here is a proof with complex numbers, which does not look at
cases. Let the circle be the unit circle, with $A = a$, $B = b$, $P = p$ and
$|a| = |b| = |p| = 1$. Then $\overline{a} = \frac{1}{a}$ and so on. The angle at $P$
is the argument of $z = \frac{b - p}{a - p}$. Now
$$\frac{z}{\overline{z}} = \frac{b - p}{a - p} \cdot
\frac{\frac{1}{a} - \frac{1}{p}}{\frac{1}{b} - \frac{1}{p}} = \frac{b}{a}.$$
The left side has argument $2 \arg z$, the right side is the directed angle
$\angle AOB$. So $2 \angle APB = \angle AOB$ modulo $2\pi$.""",
                score=9,
            ),
        ),
    ),
    Thread(
        key="geometry/thales",
        title=r"Thales: the angle in a semicircle is $90^\circ$",
        question=r"""Let $AB$ be a diameter of a circle with center $O$ and radius
$r$, and let $C$ be another point on the circle. I am asked to show that
$\angle ACB = 90^\circ$ in two different ways. One way is the inscribed angle
theorem with $\angle AOB = 180^\circ$. For the second way I wanted to use
coordinates, but I do not know how to start. And is the converse also true?""",
        tags=("geometry", "euclidean-geometry", "circles", "triangles"),
        score=8,
        answers=(
            Answer(
                r"""With vectors it is two lines. Put $O$ at the origin, so $B = -A$
and $|A| = |B| = |C| = r$. Then
$$\overrightarrow{CA} \cdot \overrightarrow{CB} = (A - C) \cdot (-A - C)
= |C|^2 - |A|^2 = r^2 - r^2 = 0,$$
so $CA \perp CB$. Read backwards, the same line proves the converse: if the dot
product vanishes, then $|C| = |A| = r$, and $C$ lies on the circle with diameter
$AB$.""",
                accepted=True,
                score=13,
            ),
            Answer(
                r"""A third way without any theorem about inscribed angles: the
triangles $OAC$ and $OBC$ are isosceles because $OA = OB = OC$. Let
$\alpha = \angle OAC = \angle OCA$ and $\beta = \angle OBC = \angle OCB$. The angles
of the big triangle $ABC$ sum up to
$$\alpha + \beta + (\alpha + \beta) = 180^\circ,$$
hence $\angle ACB = \alpha + \beta = 90^\circ$. This is probably how the ancient
Greeks did it.""",
                score=11,
            ),
        ),
        related=("geometry/inscribed-angle",),
    ),
    Thread(
        key="geometry/centroid",
        title=r"The medians of a triangle meet in one point",
        question=r"""I would like to understand why the three medians of a triangle
$ABC$ pass through a common point $G$, and why $AG : GM = 2 : 1$, where $M$ is the
midpoint of $BC$. Two lines always meet if they are not parallel, but a third line
through the same point is a small miracle. I have seen the formula
$G = \frac{A + B + C}{3}$, but what does it mean to add points? Are there several
proofs?""",
        tags=("geometry", "triangles", "centroid", "vectors"),
        score=13,
        answers=(
            Answer(
                r"""Choose any origin and identify points with their position
vectors. The midpoint of $BC$ is $M = \frac{B + C}{2}$. The point on the median $AM$
that divides it in the ratio $2 : 1$ is
$$G = \frac{1}{3} A + \frac{2}{3} M = \frac{1}{3} A + \frac{2}{3} \cdot \frac{B + C}{2}
= \frac{A + B + C}{3}.$$
This expression is symmetric in $A, B, C$, so you get the same point from the other
two medians. Hence it lies on all three of them, and the miracle is just the
symmetry of a formula. It also does not depend on the origin, because the
coefficients sum up to $1$.""",
                accepted=True,
                score=21,
            ),
            Answer(
                r"""A purely geometric proof. Let $M$ and $N$ be the midpoints of
$BC$ and $CA$, and let the medians $AM$ and $BN$ meet in $G$. By the midline theorem
$MN \parallel AB$ and $MN = \frac{1}{2} AB$. So the triangles $ABG$ and $MNG$ are
similar with ratio $2 : 1$, which gives $AG = 2\,GM$ and $BG = 2\,GN$. The same
argument with $AM$ and the third median $CL$ shows that they also meet in the point
that divides $AM$ in the ratio $2 : 1$, and this is $G$ again.""",
                score=12,
            ),
            Answer(
                r"""By Ceva's theorem the lines $AM$, $BN$ and $CL$ are concurrent
if and only if
$$\frac{BM}{MC} \cdot \frac{CN}{NA} \cdot \frac{AL}{LB} = 1,$$
and for medians all the three fractions are equal to $1$. This gives concurrency at
once, but not the ratio. For the ratio you can use areas: the six small triangles
around $G$ have the same area, so $[ABG] + [ACG] = 4x$ and $[GBC] = 2x$, and
therefore $AG : GM = 4x : 2x$.""",
                score=6,
            ),
        ),
    ),
    Thread(
        key="geometry/law-of-cosines",
        title=r"Proof of $c^2 = a^2 + b^2 - 2ab\cos\gamma$, also for obtuse angles",
        question=r"""In my school book the law of cosines
$$c^2 = a^2 + b^2 - 2ab\cos\gamma$$
is proved by dropping a height and using Pythagoras twice. The picture shows an
acute triangle. If $\gamma > 90^\circ$ the foot of the height is outside of the
triangle and the proof has to be changed. I wonder if there is an argument which
covers everything, maybe with the dot product. And can I get the triangle inequality
$c < a + b$ from it, or the statement that $c^2 < a^2 + b^2$ means an acute angle at
$C$?""",
        tags=("geometry", "trigonometry", "triangles"),
        score=9,
        answers=(
            Answer(
                r"""Put $C$ at the origin and write $\vec{a} = \overrightarrow{CB}$
and $\vec{b} = \overrightarrow{CA}$. The third side is $\vec{a} - \vec{b}$, so
$$c^2 = |\vec{a} - \vec{b}|^2 = |\vec{a}|^2 + |\vec{b}|^2 - 2\,\vec{a} \cdot \vec{b}
= a^2 + b^2 - 2ab\cos\gamma.$$
There are no cases to distinguish, because the dot product knows the sign of the
cosine: it is negative exactly for an obtuse angle, and then the correction term
makes the third side longer than in the right triangle. Since $\cos\gamma > -1$ for
$\gamma < 180^\circ$, we get $c^2 < a^2 + b^2 + 2ab = (a + b)^2$, which is the
triangle inequality.""",
                accepted=True,
                score=15,
            ),
            Answer(
                r"""With coordinates, in case you want to avoid the dot product: let
$C = (0, 0)$, $B = (a, 0)$ and $A = (b\cos\gamma, b\sin\gamma)$. This is correct for
every angle $0 < \gamma < \pi$ by the definition of sine and cosine. The distance
formula gives
$$c^2 = (b\cos\gamma - a)^2 + (b\sin\gamma)^2
= b^2(\cos^2\gamma + \sin^2\gamma) - 2ab\cos\gamma + a^2,$$
and $\cos^2\gamma + \sin^2\gamma = 1$ finishes the proof. For an obtuse angle the
corner $A$ has a negative first coordinate, and nothing in the calculation cares
about it.""",
                score=8,
            ),
        ),
    ),
    Thread(
        key="geometry/power-of-a-point",
        title=r"Power of a point: $PA \cdot PB = PC \cdot PD$",
        question=r"""Two lines through a point $P$ meet a circle in $A, B$ and in
$C, D$. I want to show $PA \cdot PB = PC \cdot PD$, for $P$ inside and for $P$
outside of the circle. I suspect that the triangles $PAC$ and $PDB$ are similar, but
which angles are equal? What is the value of the product in terms of the radius $r$
and the distance $d = OP$ from the center?""",
        tags=("geometry", "circles", "similar-triangles"),
        score=8,
        answers=(
            Answer(
                r"""Your triangles are the right ones. If $P$ is inside, then
$\angle APC = \angle DPB$ are vertical angles, and $\angle CAB = \angle CDB$,
because both are inscribed angles over the chord $CB$. So
$\triangle PAC \sim \triangle PDB$ and
$$\frac{PA}{PD} = \frac{PC}{PB},$$
which is the claim. If $P$ is outside, the angle at $P$ is common to both triangles,
and $\angle PAC = \angle PDB$ because $ABDC$ is a cyclic quadrilateral. The rest is
the same.""",
                accepted=True,
                score=12,
            ),
            Answer(
                r"""For the value do it with algebra. Put the center at the origin
and parametrize a line through $P$ as $P + tu$ with $|u| = 1$. It meets the circle
when $|P + tu|^2 = r^2$, that is
$$t^2 + 2t\,(P \cdot u) + d^2 - r^2 = 0.$$
By Vieta the product of the two solutions is $t_1 t_2 = d^2 - r^2$, and it does not
depend on the direction $u$. So $PA \cdot PB = |d^2 - r^2|$ for every line, inside
or outside, and for a tangent from an outside point we get $PT^2 = d^2 - r^2$.""",
                score=14,
            ),
        ),
    ),
    Thread(
        key="geometry/point-to-plane",
        title=r"Deriving $\frac{|ax_0 + by_0 + cz_0 + d|}{\sqrt{a^2 + b^2 + c^2}}$",
        question=r"""The distance from the point $P = (x_0, y_0, z_0)$ to the plane
$ax + by + cz + d = 0$ is said to be
$$\frac{|ax_0 + by_0 + cz_0 + d|}{\sqrt{a^2 + b^2 + c^2}}.$$
I can use the formula, but I would like to know where it comes from. What is the
geometric meaning of the numerator, and why do we divide by the length of
$n = (a, b, c)$? I tried to minimize $(x - x_0)^2 + (y - y_0)^2 + (z - z_0)^2$ over
the plane and got lost in the algebra.""",
        tags=("geometry", "analytic-geometry", "vectors", "3d"),
        score=16,
        answers=(
            Answer(
                r"""Walk from $P$ in the direction of the normal vector
$n = (a, b, c)$ until you hit the plane. The point $P + tn$ lies on the plane when
$$a(x_0 + ta) + b(y_0 + tb) + c(z_0 + tc) + d = 0
\quad \Longrightarrow \quad t = -\frac{ax_0 + by_0 + cz_0 + d}{a^2 + b^2 + c^2}.$$
You walked the distance $|t| \cdot |n|$ with $|n| = \sqrt{a^2 + b^2 + c^2}$, and
this is the formula. It is the shortest distance, since by Pythagoras every other
point of the plane is farther away. The absolute value is there because $P$ can be
on either side, and the sign of the numerator tells you on which one. In the plane
the same walk gives the distance from a point to the line $ax + by + c = 0$.""",
                accepted=True,
                score=22,
            ),
            Answer(
                r"""Your minimization works very quickly with Cauchy-Schwarz. For
any point $X = (x, y, z)$ of the plane we have $n \cdot X = -d$, so
$$|n \cdot P + d| = |n \cdot (P - X)| \leq |n| \cdot |P - X|.$$
Hence $|P - X| \geq \frac{|n \cdot P + d|}{|n|}$ for all $X$ in the plane, with
equality exactly if $P - X$ is parallel to $n$. Nothing in this depends on the
dimension: it is the distance from a point to a hyperplane in $\mathbb{R}^n$, in
particular to a line in $\mathbb{R}^2$.""",
                score=14,
            ),
        ),
    ),
    Thread(
        key="geometry/viviani",
        title=r"Sum of distances to the sides of an equilateral triangle",
        question=r"""Let $P$ be a point inside an equilateral triangle with side $s$
and height $h = \frac{\sqrt{3}}{2} s$. Let $d_1, d_2, d_3$ be the distances from $P$
to the three sides. I noticed with a drawing program that $d_1 + d_2 + d_3$ does not
change when I move the point, it is always equal to $h$. How can this be proved?
Does it hold for other triangles?""",
        tags=("geometry", "triangles", "area"),
        score=10,
        answers=(
            Answer(
                r"""Connect $P$ with the three corners. This splits the triangle
into three smaller ones with base $s$ and heights $d_1, d_2, d_3$. Comparing areas,
$$\frac{1}{2} s h = \frac{1}{2} s d_1 + \frac{1}{2} s d_2 + \frac{1}{2} s d_3,$$
and dividing by $\frac{s}{2}$ gives $d_1 + d_2 + d_3 = h$. This is Viviani's
theorem. In a triangle with sides $a, b, c$ the same argument shows that
$a d_1 + b d_2 + c d_3 = 2F$ is constant, where $F$ is the area, but the plain sum
is constant only if the sides are equal.""",
                accepted=True,
                score=18,
            ),
            Answer(
                r"""A proof with linear functions. Each distance $d_i(P)$, taken
with a sign that is positive inside, is of the form $n_i \cdot P + c_i$, where $n_i$
is the unit normal vector of the side, pointing inwards. So
$$d_1 + d_2 + d_3 = (n_1 + n_2 + n_3) \cdot P + (c_1 + c_2 + c_3).$$
In the equilateral triangle the three normals differ by rotations of $120^\circ$,
hence $n_1 + n_2 + n_3 = 0$ and the sum is constant. Put $P$ into a corner to see
that the constant is $h$. The same proof works for every regular polygon, with the
value $n \rho$ where $\rho$ is the inradius.""",
                score=9,
            ),
        ),
    ),
    Thread(
        key="geometry/regular-polygon",
        title=r"Area of a regular $n$-gon and the limit $\pi r^2$",
        question=r"""A regular polygon with $n$ sides is inscribed in a circle of
radius $r$. I found the area $A_n = \frac{n}{2} r^2 \sin\frac{2\pi}{n}$ in a table.
How is this derived? For $n = 4$ I get $2r^2$, which is correct for a square with
diagonal $2r$. Is it true that $\lim_{n \to \infty} A_n = \pi r^2$, and is this then
a proof of the formula for the area of the disk or is it circular (no pun intended)?""",
        tags=("geometry", "area", "polygons", "limits"),
        score=9,
        answers=(
            Answer(
                r"""Cut the polygon into $n$ congruent isosceles triangles with the
apex at the center. The two equal sides have length $r$ and enclose the angle
$\frac{2\pi}{n}$, so each triangle has area $\frac{1}{2} r^2 \sin\frac{2\pi}{n}$.
For the limit write
$$A_n = \pi r^2 \cdot \frac{\sin\frac{2\pi}{n}}{\frac{2\pi}{n}} \to \pi r^2,$$
because $\frac{\sin x}{x} \to 1$ as $x \to 0$. For moderate $n$ the polygon is
already close to the disk, with a relative error that decreases like a constant over
$n^2$.""",
                accepted=True,
                score=11,
            ),
            Answer(
                r"""Whether it is circular depends on how you know that
$\lim_{x \to 0} \frac{\sin x}{x} = 1$. The usual picture compares the area of a
sector with the areas of two triangles, so it already uses the area of the disk. If
you define $\pi$ by the circumference, $C = 2\pi r$, and prove the limit from arc
lengths, then there is no circle in the argument. Archimedes also used circumscribed
polygons with area $B_n = n r^2 \tan\frac{\pi}{n}$, so that the disk is squeezed
between $A_n$ and $B_n$.""",
                score=8,
            ),
        ),
    ),
    Thread(
        key="geometry/shoelace",
        title=r"Area of a triangle from its coordinates (shoelace formula)",
        question=r"""For a triangle with corners $(x_1, y_1)$, $(x_2, y_2)$,
$(x_3, y_3)$ I have found the area formula
$$F = \frac{1}{2} \left| \det \begin{pmatrix} x_2 - x_1 & x_3 - x_1 \\
y_2 - y_1 & y_3 - y_1 \end{pmatrix} \right|.$$
I have checked it with a few right triangles and it works. But why is the area of a
triangle a determinant, and what does its sign mean? And how does it generalize to a
polygon with $n$ corners, where people draw crossing lines like in a shoe?""",
        tags=("geometry", "analytic-geometry", "area", "determinant"),
        score=11,
        answers=(
            Answer(
                r"""Let $u$ and $v$ be the edge vectors from the first corner, and
let $\theta$ be the angle between them. The parallelogram they span has area
$|u||v|\sin\theta$, and the triangle is one half of it. Now
$$|u|^2|v|^2\sin^2\theta = |u|^2|v|^2 - (u \cdot v)^2 = (u_1 v_2 - u_2 v_1)^2,$$
where the last step is a direct calculation (Lagrange's identity). So the area of
the parallelogram is $|u_1 v_2 - u_2 v_1|$, which is the absolute value of your
determinant.""",
                accepted=True,
                score=14,
            ),
            Answer(
                r"""For a polygon with corners $(x_1, y_1), \dots, (x_n, y_n)$ in
counterclockwise order the shoelace formula is
$$F = \frac{1}{2} \sum_{i=1}^{n} (x_i y_{i+1} - x_{i+1} y_i), \qquad
(x_{n+1}, y_{n+1}) = (x_1, y_1).$$
Each summand is twice the *signed* area of the triangle formed by the origin and one
edge. If the origin is outside, the parts that stick out are counted once with $+$
and once with $-$ and cancel. It is also a special case of Green's theorem,
$F = \frac{1}{2} \oint x\,dy - y\,dx$.""",
                score=13,
            ),
        ),
    ),
    Thread(
        key="geometry/angle-bisector",
        title=r"Angle bisector theorem $\frac{BD}{DC} = \frac{AB}{AC}$",
        question=r"""In a triangle $ABC$ the bisector of the angle at $A$ meets the
side $BC$ in $D$. I have to prove that
$$\frac{BD}{DC} = \frac{AB}{AC}.$$
There are no similar triangles in the picture as far as I can see: the triangles
$ABD$ and $ADC$ share the side $AD$ and have equal angles $\frac{\alpha}{2}$ at $A$,
but the angles at $D$ are different unless $AB = AC$. Could I have a hint, not a
full solution?""",
        tags=("geometry", "triangles", "euclidean-geometry"),
        score=7,
        answers=(
            Answer(
                r"""Hint: compute the ratio of the areas of $ABD$ and $ADC$ in two
ways. First, they have the same height over the line $BC$, so the ratio is
$\frac{BD}{DC}$. Second, with the formula
$\frac{1}{2} \cdot \text{side} \cdot \text{side} \cdot \sin$ at the corner $A$ you
get
$$\frac{\frac{1}{2} AB \cdot AD \cdot \sin\frac{\alpha}{2}}{\frac{1}{2} AC \cdot AD
\cdot \sin\frac{\alpha}{2}} = \frac{AB}{AC}.$$
So no similar triangles are needed. I have left the conclusion to you, but there is
not much left to say.""",
                accepted=True,
                score=12,
            ),
            Answer(
                r"""If you want similar triangles, make some: draw the parallel to
$AB$ through $C$ and let it meet the line $AD$ in $E$. Then
$\angle CED = \angle BAD$ are alternate angles, so the triangle $ACE$ is isosceles
with $CE = AC$. And the triangles $ABD$ and $ECD$ are similar. What does this say
about $\frac{BD}{DC}$? You also get the converse: if $D$ divides the side in this
ratio, then $AD$ is the bisector.""",
                score=8,
            ),
        ),
    ),
)

_DISTANCE_QUESTIONS = (
    r"""Find the distance from the point $P = (%(x)d, %(y)d)$ to the line
$%(line)s = 0$. I solved it by finding the perpendicular line through $P$, then the
intersection point, and then the distance of two points. I got $%(result)s$, but it
took a whole page. There must be a quicker way, I vaguely remember a formula with a
square root in the denominator.""",
    r"""For a computer game I need to know how far the player at $(%(x)d, %(y)d)$ is
from a straight wall given by $%(line)s = 0$. I do not want to compute the foot of
the perpendicular each time. Is it enough to plug the coordinates into the left side
of the equation? This gives the number $%(top)d$, which seems to be too large, and
for points on the other side of the wall, like $(-2, 3)$, the sign is different.""",
    r"""Let $g$ be the line $%(line)s = 0$ and let $P = (%(x)d, %(y)d)$. I am asked
to find the point $Q$ on $g$ that is closest to $P$, and the length of $PQ$. My plan
is to minimize $(x - %(xp)s)^2 + (y - %(yp)s)^2$ under the constraint that $(x, y)$
is on the line. Is calculus necessary here, or can it be done with vectors?""",
)

_DISTANCE_ANSWERS = (
    r"""The formula you have in mind is
$$d = \frac{|a x_0 + b y_0 + c|}{\sqrt{a^2 + b^2}}$$
for the line $ax + by + c = 0$ and the point $(x_0, y_0)$. Here $a = %(a)d$,
$b = %(b)d$, $c = %(c)d$, so the numerator is $|%(top)d| = %(abs)d$ and the
denominator is $\sqrt{%(a2)d + %(b2)d} = \sqrt{%(norm)d} = %(root)s$. The distance
is $d = %(result)s$, as you found. It is worth to derive the formula once: it is the
length of the projection of a connecting vector on the normal direction $(a, b)$.""",
    r"""Almost. You have to divide by the length of the normal vector $(%(a)d, %(b)d)$,
which is $\sqrt{%(a2)d + %(b2)d} = %(root)s$, and take the absolute value. So the
distance is
$$\frac{|%(top)d|}{%(root)s} = %(result)s.$$
If you divide the equation of the wall by $%(root)s$ once and store it (Hesse normal
form), then plugging in is all you have to do for each frame. Keep the sign if you
want to know on which side the player is.""",
    r"""No calculus needed. The shortest way from $P$ to the line is along the
normal vector $n = (%(a)d, %(b)d)$, so $Q = P + tn$ for some $t$. Plugging this into
the equation gives $%(top)s + %(norm)dt = 0$, so $t = %(t)s$ and
$$Q = \left( %(qx)s, %(qy)s \right).$$
The length is $|PQ| = |t| \cdot |n| = %(abst)s \cdot %(root)s = %(result)s$. You can
check that $Q$ satisfies the equation of $g$.""",
    r"""A way with areas, for those who do not like to memorize formulas. Let the
line meet the axes in $U$ and $V$. The triangle $PUV$ has the base $UV$, and its
height is the distance $d$ that you want. So compute its area with a determinant and
divide:
$$d = \frac{|\det(U - P, V - P)|}{|UV|}.$$
Here $U = (%(ux)s, 0)$ and $V = (0, %(vy)s)$, so the determinant has the absolute
value $%(area)s$, the base is $|UV| = %(base)s$, and the quotient is
$d = %(result)s$ again.""",
)

_CIRCLE_QUESTIONS = (
    r"""How can I find out, without drawing, whether the line $y = %(m)sx + %(k)d$
meets the circle $x^2 + y^2 = %(r2)d$? I inserted the first equation into the second
one and got a quadratic equation in $x$. Do I have to solve it, or can I see the
number $N$ of intersection points in a simpler way? I only have to decide between
$N = 0$, $N = 1$ and $N = 2$.""",
    r"""Consider the circle $K$ with center $O = (0, 0)$ and radius $\sqrt{%(r2)d}$
and the line $g$ with equation $y = %(m)sx + %(k)d$. My task is to decide if $g$ is
a secant, a tangent or does not meet $K$ at all. I know two methods, the
discriminant $\Delta = b^2 - 4ac$ and comparing the distance of $O$ from $g$ with
the radius. Do they always give the same answer?""",
    r"""For which values of $k$ does the line $y = %(m)sx + k$ touch the circle
$x^2 + y^2 = %(r2)d$? In particular, what happens for $k = %(k)d$? If I substitute,
I get an equation with two unknowns $x$ and $k$, and I do not know how to proceed
from there. I think that a tangent should have exactly one common point with the
circle.""",
)

_CIRCLE_ANSWERS = (
    r"""Substituting gives $x^2 + (%(m)sx + %(k)d)^2 = %(r2)d$, i.e.
$$%(qa)dx^2 + %(qb)dx + %(qc)d = 0.$$
The number of solutions only depends on the sign of the discriminant,
$\Delta = %(qb)d^2 - 4 \cdot %(qa)d \cdot %(qc)d = %(disc)d$. Here %(reason)s, so
%(verdict)s. You only need to solve the equation if you also want the coordinates of
the common points.""",
    r"""Yes, they agree. The distance of the origin from $g$ is
$\frac{|%(k)d|}{\sqrt{1 + %(m2)d}} = \frac{%(k)d}{\sqrt{%(qa)d}}$, so comparing its
square with the square of the radius means comparing $\frac{%(k2)d}{%(qa)d}$ with
$%(r2)d$. On the other hand substitution leads to the quadratic
$%(qa)dx^2 + %(qb)dx + %(qc)d = 0$ with
$\Delta = 4(%(qa)d \cdot %(r2)d - %(k2)d) = %(disc)d$. Both say whether $%(k2)d$ is
smaller or larger than $%(prod)d$. In your case %(verdict)s.""",
    r"""Treat $k$ as a parameter. The substitution gives
$%(qa)dx^2 + %(twom)dkx + k^2 - %(r2)d = 0$, and a tangent means that the
discriminant vanishes:
$$(%(twom)dk)^2 - 4 \cdot %(qa)d\,(k^2 - %(r2)d) = 0 \quad \Longleftrightarrow \quad
k^2 = %(prod)d.$$
For $k = %(k)d$ we have $k^2 = %(k2)d$, so %(verdict)s. For $k^2 < %(prod)d$ there
are two common points, and for $k^2 > %(prod)d$ there are none.""",
    r"""Alternatively compare distances. Write the line as $%(m)sx - y + %(k)d = 0$.
Its distance from the center $(0, 0)$ is
$$d = \frac{|%(k)d|}{\sqrt{%(m)d^2 + (-1)^2}} = \frac{%(k)d}{\sqrt{%(qa)d}},$$
and the radius is $r = \sqrt{%(r2)d}$. There are two, one or no common points
according to $d < r$, $d = r$ or $d > r$. Squaring, we compare
$\frac{%(k2)d}{%(qa)d}$ with $%(r2)d$, and we see again that %(verdict)s. No
quadratic equation is necessary.""",
)


def _write_fraction(value: Fraction) -> str:
    """Write a fraction in LaTeX."""
    if value.denominator == 1:
        return str(value.numerator)
    sign = "-" if value < 0 else ""
    return rf"{sign}\frac{{{abs(value.numerator)}}}{{{value.denominator}}}"


def _write_line(a: int, b: int, c: int) -> str:
    """Write the left side of ``ax + by + c = 0``."""
    vertical = "y" if abs(b) == 1 else f"{abs(b)}y"
    return f"{a}x {'+-'[b < 0]} {vertical} {'+-'[c < 0]} {abs(c)}"


def _measure_area(u: Fraction, v: Fraction, x: int, y: int) -> dict[str, str]:
    """Return twice the area over the axis segment from ``(u, 0)`` to ``(0, v)``."""
    square = u * u + v * v
    root = Fraction(isqrt(square.numerator), isqrt(square.denominator))
    return {
        "ux": _write_fraction(u),
        "vy": _write_fraction(v),
        "area": _write_fraction(abs((u - x) * (v - y) - x * y)),
        "base": (
            _write_fraction(root)
            if root * root == square
            else rf"\sqrt{{{_write_fraction(square)}}}"
        ),
    }


def _ask_distances(rng: random.Random) -> list[Thread]:
    """Write questions on the distance from a point to a line."""
    titles = (
        r"Distance from $(%(x)d, %(y)d)$ to the line $%(line)s = 0$",
        r"How far is a point from a wall $%(line)s = 0$?",
        r"Closest point to $(%(x)d, %(y)d)$ on a line",
    )
    threads = []
    cases = ((3, 4, -10, 5, 5), (5, -12, 6, 4, -1), (2, 1, -3, 4, 5))
    for place, (a, b, c, x, y) in enumerate(cases):
        top = a * x + b * y + c
        norm = a * a + b * b
        whole = isqrt(norm) ** 2 == norm
        root = str(isqrt(norm)) if whole else rf"\sqrt{{{norm}}}"
        t = Fraction(-top, norm)
        result = (
            _write_fraction(Fraction(abs(top), isqrt(norm)))
            if whole
            else rf"{abs(t) if abs(t) != 1 else ''}{root} \approx "
            rf"{abs(top) / sqrt(norm):.2f}"
        )
        values = {
            "a": a,
            "b": b,
            "c": c,
            "x": x,
            "y": y,
            "xp": x,
            "yp": y,
            "line": _write_line(a, b, c),
            "top": top,
            "abs": abs(top),
            "a2": a * a,
            "b2": b * b,
            "norm": norm,
            "root": root,
            "result": result,
            "t": _write_fraction(t),
            "abst": _write_fraction(abs(t)),
            "qx": _write_fraction(x + t * a),
            "qy": _write_fraction(y + t * b),
            **_measure_area(Fraction(-c, a), Fraction(-c, b), x, y),
        }
        threads.append(
            Thread(
                key=f"geometry/distance-{('page', 'wall', 'foot')[place]}",
                title=titles[place] % values,
                question=_DISTANCE_QUESTIONS[place] % values,
                tags=("geometry", "analytic-geometry", "distance"),
                score=rng.randint(1, 8),
                answers=(
                    Answer(
                        _DISTANCE_ANSWERS[place] % values,
                        accepted=True,
                        score=rng.randint(3, 10),
                    ),
                    Answer(_DISTANCE_ANSWERS[3] % values, score=3),
                )[: 2 if place == 0 else 1],
            )
        )
    return threads


def _judge_line(disc: int) -> tuple[str, str]:
    """Say what the sign of the discriminant means for line and circle."""
    if disc > 0:
        return r"$\Delta > 0$", "the line meets the circle in two points"
    if disc == 0:
        return r"$\Delta = 0$", "the line is a tangent with one common point"
    return r"$\Delta < 0$", "the line does not meet the circle"


def _ask_circles(rng: random.Random) -> list[Thread]:
    """Write questions on a line and a circle around the origin."""
    titles = (
        r"Does the line $y = %(m)sx + %(k)d$ meet the circle $x^2 + y^2 = %(r2)d$?",
        r"Secant or tangent? Discriminant versus distance for a circle",
        r"For which $k$ is $y = %(m)sx + k$ tangent to $x^2 + y^2 = %(r2)d$?",
    )
    threads = []
    for place, (m, k, r2) in enumerate(((2, 3, 5), (3, 11, 10), (2, 5, 5))):
        qa, qb, qc = 1 + m * m, 2 * m * k, k * k - r2
        disc = qb * qb - 4 * qa * qc
        reason, verdict = _judge_line(disc)
        values = {
            "m": m,
            "k": k,
            "r2": r2,
            "qa": qa,
            "qb": qb,
            "qc": qc,
            "disc": disc,
            "reason": reason,
            "verdict": verdict,
            "m2": m * m,
            "k2": k * k,
            "prod": qa * r2,
            "twom": 2 * m,
        }
        threads.append(
            Thread(
                key=f"geometry/circle-line-{m}-{k}-{r2}",
                title=titles[place] % values,
                question=_CIRCLE_QUESTIONS[place] % values,
                tags=("geometry", "analytic-geometry", "circles"),
                score=rng.randint(0, 5),
                answers=(
                    Answer(
                        _CIRCLE_ANSWERS[place] % values,
                        accepted=place != 0,
                        score=rng.randint(2, 7),
                    ),
                    Answer(_CIRCLE_ANSWERS[3] % values, score=3),
                )[: 2 if place == 0 else 1],
            )
        )
    return threads


def threads(rng: random.Random) -> list[Thread]:
    """Return the threads of the area."""
    return [*_THREADS, *_ask_distances(rng), *_ask_circles(rng)]


ANSWER_TOPICS = (
    AnswerTopic(
        key="geometry/topic-distance-formula",
        title=r"Where does $\frac{|ax_0 + by_0 + c|}{\sqrt{a^2 + b^2}}$ come from?",
        question=r"""My students have to learn by heart that a point $(x_0, y_0)$
has the distance
$$\frac{|ax_0 + by_0 + c|}{\sqrt{a^2 + b^2}}$$
from the line $ax + by + c = 0$. I would like to give them a short derivation, and
to explain the absolute value and the square root. What is a good way to see it for
students who know vectors, but no calculus? A worked example would help too, for
instance with the point $(1, 2)$ and a line like $4x + 3y = 5$.""",
        tags=("geometry", "analytic-geometry", "education"),
        grades={
            "geometry/point-to-plane#1": 3,
            "geometry/point-to-plane#2": 3,
            "geometry/distance-foot#1": 3,
            "geometry/distance-page#1": 2,
            "geometry/distance-page#2": 2,
            "geometry/distance-wall#1": 2,
            "geometry/circle-line-3-11-10#1": 1,
            "geometry/circle-line-2-3-5#2": 1,
            "geometry/thales#1": 0,
            "geometry/law-of-cosines#2": 0,
            "geometry/power-of-a-point#2": 0,
            "geometry/shoelace#1": 0,
            "geometry/viviani#1": 0,
            "geometry/viviani#2": 0,
            "geometry/circle-line-2-3-5#1": 0,
            "topology/closed-bounded-not-compact#1": 0,
            "probability/chebyshev#1": 0,
            "geometry/centroid#1": 0,
        },
        category="Proof",
        difficulty="Low",
        dependency="Formula",
    ),
)

FORMULA_TOPICS = (
    FormulaTopic(
        topic="geometry/topic-distance-formula",
        latex=r"\frac{|ax_0 + by_0 + c|}{\sqrt{a^2 + b^2}}",
        grades={
            r"d = \frac{|a x_0 + b y_0 + c|}{\sqrt{a^2 + b^2}}": 3,
            r"\frac{|ax_0 + by_0 + cz_0 + d|}{\sqrt{a^2 + b^2 + c^2}}": 3,
            r"|P - X| \geq \frac{|n \cdot P + d|}{|n|}": 2,
            r"ax + by + c = 0": 1,
            r"ax + by + cz + d = 0": 1,
            r"|n| = \sqrt{a^2 + b^2 + c^2}": 1,
            r"\frac{a - b\alpha}{a^2 + b^2}": 0,
            r"c^2 = a^2 + b^2 - 2ab\cos\gamma": 0,
            r"a d_1 + b d_2 + c d_3 = 2F": 0,
            r"G = \frac{A + B + C}{3}": 0,
            r"\Delta = b^2 - 4ac": 0,
            r"\frac{1 \pm \sqrt{-5}}{2}": 0,
            r"PA \cdot PB = |d^2 - r^2|": 0,
        },
    ),
)
