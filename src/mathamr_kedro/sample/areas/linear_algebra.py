"""Linear algebra: matrices, eigenvalues, determinants, least squares."""

from __future__ import annotations

import random
from fractions import Fraction
from math import gcd, isqrt

from mathamr_kedro.sample.threads import Answer, AnswerTopic, FormulaTopic, Thread

_HAND_WRITTEN = (
    Thread(
        key="linear_algebra/ab-ba-eigenvalues",
        title=r"Do $AB$ and $BA$ have the same eigenvalues?",
        question=r"""Let $A$ and $B$ be two $n\times n$ matrices over $\mathbb{C}$. In
general $AB\ne BA$, but in all examples that I computed the two products had the same
eigenvalues. For instance with
$$A=\begin{pmatrix}1&2\\0&1\end{pmatrix},\qquad B=\begin{pmatrix}0&1\\1&1\end{pmatrix}$$
I found the characteristic polynomial $\lambda^2-3\lambda-1$ for both $AB$ and $BA$.

If $A$ is invertible, then $BA=A^{-1}(AB)A$, so the products are similar and the claim
is clear. But what if neither $A$ nor $B$ is invertible? Are the multiplicities equal as
well?""",
        tags=("linear-algebra", "matrices", "eigenvalues-eigenvectors"),
        score=22,
        comments=(r"The products need not be similar: try to find $AB=0\ne BA$.",),
        related=("linear_algebra/sylvester-determinant",),
        answers=(
            Answer(
                text=r"""Yes. First let $\lambda\ne0$ be an eigenvalue of $AB$, so
$ABv=\lambda v$ with $v\ne0$. Put $w=Bv$. Then
$$BAw=BABv=B(\lambda v)=\lambda w,$$
and $w\ne0$, because $Aw=ABv=\lambda v\ne0$. So $\lambda$ is an eigenvalue of $BA$ with
eigenvector $Bv$. By symmetry the nonzero eigenvalues agree.

For $\lambda=0$ use determinants: $0$ is an eigenvalue of $AB$ iff
$\det(AB)=\det A\det B=\det(BA)=0$, that is, iff it is an eigenvalue of $BA$. Here it is
important that the matrices are square; for rectangular ones $0$ may be an eigenvalue of
only one of the products.""",
                accepted=True,
                score=28,
            ),
            Answer(
                text=r"""Even the characteristic polynomials are equal, hence also the
algebraic multiplicities. A proof without case distinction uses the block matrices
$$M=\begin{pmatrix}AB&0\\B&0\end{pmatrix},\quad
N=\begin{pmatrix}0&0\\B&BA\end{pmatrix},\quad
P=\begin{pmatrix}I&A\\0&I\end{pmatrix}.$$
Check that $MP=PN$. Since $P$ is invertible, $M$ and $N$ are similar, so they have the
same characteristic polynomial:
$$\lambda^n\det(\lambda I-AB)=\lambda^n\det(\lambda I-BA).$$
Cancel $\lambda^n$. The same proof works for $A\in\mathbb{C}^{m\times n}$ and
$B\in\mathbb{C}^{n\times m}$, with different powers of $\lambda$ on the two sides.""",
                score=17,
            ),
            Answer(
                text=r"""A continuity argument finishes what you started. You have the
claim for invertible $A$. For general $A$ the matrix $A+tI$ is invertible for all but
finitely many $t$ (exclude the numbers $-\mu$ with $\mu$ an eigenvalue of $A$), so
$$\det(\lambda I-(A+tI)B)=\det(\lambda I-B(A+tI))$$
for all small $t\ne0$. Both sides are polynomials in $t$, hence continuous, and $t\to0$
gives the equality of the characteristic polynomials. Similar they need not be, though:
take
$A=\begin{pmatrix}1&0\\0&0\end{pmatrix}$ and
$B=\begin{pmatrix}0&1\\0&0\end{pmatrix}$, where $AB=B$ but $BA=0$.""",
                score=11,
            ),
        ),
    ),
    Thread(
        key="linear_algebra/sylvester-determinant",
        title=r"Sylvester's identity $\det(I+AB)=\det(I+BA)$ for rectangular matrices",
        question=r"""Let $A$ be an $m\times n$ matrix and $B$ an $n\times m$ matrix. I
came across the identity
$$\det(I_m+AB)=\det(I_n+BA)$$
in a paper on statistics, where it was used to turn a $1000\times1000$ determinant into
a $3\times3$ one. I could verify the case $n=1$, where it says
$\det(I+uv^{\mathsf T})=1+v^{\mathsf T}u$, at least for $m=2$.

How is the general statement proved? I know about block matrices, but I do not see
which block matrix one has to write down. The sizes differ, so a similarity argument
seems hopeless.""",
        tags=("linear-algebra", "determinant", "block-matrices"),
        score=16,
        answers=(
            Answer(
                text=r"""The right block matrix is
$$\begin{pmatrix}I_m&-A\\B&I_n\end{pmatrix}.$$
Compute its determinant in two ways. Eliminating the lower left block (subtract $B$
times the first block row from the second) gives
$$\det\begin{pmatrix}I_m&-A\\0&I_n+BA\end{pmatrix}=\det(I_n+BA),$$
while eliminating the upper right block (add $A$ times the second block row to the
first) gives
$$\det\begin{pmatrix}I_m+AB&0\\B&I_n\end{pmatrix}=\det(I_m+AB).$$
Both operations are multiplications by matrices of determinant $1$, so the two results
are equal. Replacing $A$ by $-A$ you get $\det(I-AB)=\det(I-BA)$.""",
                accepted=True,
                score=20,
            ),
            Answer(
                text=r"""A different point of view: the inverses determine each other.
If $I+AB$ is invertible, then so is $I+BA$, with
$$(I+BA)^{-1}=I-B(I+AB)^{-1}A$$
which you verify by multiplying out, using $(I+BA)B=B(I+AB)$. In particular
$\det(I+AB)=0$ iff $\det(I+BA)=0$.

To get equality of the determinants, apply this to $tA$ instead of $A$: the polynomials
$\det(I+tAB)$ and $\det(I+tBA)$ in $t$ have the same zeros, namely $t=-1/\lambda$ for
the common nonzero eigenvalues $\lambda$, and both have the value $1$ at $t=0$. For
equal multiplicities you still need an argument such as perturbing to distinct
eigenvalues, so the block matrix proof is cleaner.""",
                score=9,
            ),
        ),
    ),
    Thread(
        key="linear_algebra/sherman-morrison",
        title=r"Where does the Sherman–Morrison formula come from?",
        question=r"""In a numerics lecture we used the formula
$$(A+uv^T)^{-1}=A^{-1}-\frac{A^{-1}uv^TA^{-1}}{1+v^TA^{-1}u}$$
to update an inverse after a change of rank one, with $A\in\mathbb{R}^{n\times n}$
invertible and $u,v\in\mathbb{R}^n$. The proof was "multiply both sides". Fine, but how
could anybody *find* it? And what happens if the denominator
$1+v^TA^{-1}u$ is zero? I would be happy about a derivation that one could
remember in an exam.""",
        tags=("linear-algebra", "matrices", "inverse"),
        score=12,
        answers=(
            Answer(
                text=r"""Reduce to $A=I$ by writing
$A+uv^T=A(I+A^{-1}uv^T)$, and set $x=A^{-1}u$. So we look for the
inverse of $I+xv^T$. If $x$ and $v$ are small, the geometric series gives
$$(I+xv^T)^{-1}=I-xv^T+xv^Txv^T-\cdots$$
Here $xv^Txv^T=(v^Tx)\,xv^T$, since the middle is
a number! So the series collapses to
$$I-\left(1-v^Tx+(v^Tx)^2-\cdots\right)xv^T
=I-\frac{xv^T}{1+v^Tx}.$$
Having found the formula, one verifies that it holds whenever $1+v^Tx\ne0$.""",
                accepted=True,
                score=15,
            ),
            Answer(
                text=r"""You can also solve the system $(A+uv^T)y=b$ by hand. Let
$s=v^Ty$, an unknown number. Then $Ay=b-su$, so $y=A^{-1}b-sA^{-1}u$. Multiply
by $v^T$:
$$s=v^TA^{-1}b-s\,v^TA^{-1}u\implies
s=\frac{v^TA^{-1}b}{1+v^TA^{-1}u}.$$
Insert $s$ and read off the formula. If the denominator is zero, then
$(A+uv^T)A^{-1}u=u(1+v^TA^{-1}u)=0$, so for $u\ne0$ the matrix is
singular and there is no inverse; compare
$\det(A+uv^T)=(1+v^TA^{-1}u)\det A$.""",
                score=8,
            ),
        ),
    ),
    Thread(
        key="linear_algebra/commutator-identity",
        title=r"Can $AB-BA=I$ hold for square matrices?",
        question=r"""A question from an old exam: do there exist real $n\times n$
matrices $A$, $B$ with
$$AB-BA=I\,?$$
For $n=1$ it is impossible since numbers commute. For $n=2$ I wrote down the four
equations for the entries and added the two on the diagonal; I obtained $0=2$, so there
is no solution. Is there a slick reason for all $n$?

What irritates me: in quantum mechanics the relation $[P,Q]=-i\hbar$ holds, and there
$P$ and $Q$ are treated "like matrices".""",
        tags=("linear-algebra", "matrices", "trace"),
        score=11,
        answers=(
            Answer(
                text=r"""You have discovered the reason yourself: adding the diagonal
equations means taking the trace. For all square matrices
$$\operatorname{tr}(AB)=\sum_{i,j}a_{ij}b_{ji}=\operatorname{tr}(BA),$$
so the left side of your equation has $\operatorname{tr}(AB-BA)=0$, while
$\operatorname{tr}(I)=n\ne0$. Hence there is no solution over $\mathbb{R}$ or
$\mathbb{C}$. (Over a field of characteristic $p$ with $p\mid n$ the argument breaks
down, and solutions exist.)""",
                accepted=True,
                score=16,
            ),
            Answer(
                text=r"""About quantum mechanics: the trace argument shows that such
operators cannot live on a finite-dimensional space. On the space of polynomials, which
has infinite dimension, take $Q$ = multiplication by $x$ and $D=\frac{d}{dx}$. Then
$$(DQ-QD)f=(xf)'-xf'=f,$$
so $DQ-QD=I$ holds. There is no trace for these operators. One can show that at least
one of them must be unbounded with respect to any norm, since
$DQ^n-Q^nD=nQ^{n-1}$ would give $n\|Q^{n-1}\|\le2\|D\|\,\|Q\|\,\|Q^{n-1}\|$ for all
$n$.""",
                score=9,
            ),
        ),
    ),
    Thread(
        key="linear_algebra/power-of-matrix",
        title=r"Finding a formula for $A^n$ when $A$ is a $2\times2$ matrix",
        question=r"""I am supposed to find a formula for the $n$-th power of
$$A=\begin{pmatrix}4&-2\\1&1\end{pmatrix}.$$
I computed $A^2=\begin{pmatrix}14&-10\\5&-1\end{pmatrix}$ and $A^3$ by hand and hoped to
guess a pattern for an induction, but the entries of $A^3$ are $46,-38,19,-11$ and I do
not recognise anything.

Is there a systematic way that works for (almost) every $2\times2$ matrix? We have
covered eigenvalues but not yet the Jordan form.""",
        tags=("linear-algebra", "matrices", "diagonalization"),
        score=14,
        related=("linear_algebra/fibonacci-matrix",),
        answers=(
            Answer(
                text=r"""Diagonalise. The characteristic polynomial is
$\lambda^2-5\lambda+6=(\lambda-2)(\lambda-3)$, eigenvectors are $(1,1)^{\mathsf T}$ for
$2$ and $(2,1)^{\mathsf T}$ for $3$. So $A=PDP^{-1}$ with
$$P=\begin{pmatrix}1&2\\1&1\end{pmatrix},\quad
D=\begin{pmatrix}2&0\\0&3\end{pmatrix},\quad
P^{-1}=\begin{pmatrix}-1&2\\1&-1\end{pmatrix}.$$
In the product $A^n=PDP^{-1}PDP^{-1}\cdots PDP^{-1}$ all the inner factors cancel:
$$A^n=PD^nP^{-1}=\begin{pmatrix}2\cdot3^n-2^n&2^{n+1}-2\cdot3^n\\
3^n-2^n&2^{n+1}-3^n\end{pmatrix}.$$
Test with $n=1$. This works for every matrix with two different eigenvalues, and powers
of a diagonal matrix are taken entry by entry.""",
                accepted=True,
                score=18,
            ),
            Answer(
                text=r"""You can avoid eigenvectors completely. By Cayley–Hamilton
$A^2=5A-6I$, so every power is a combination $A^n=\alpha_nA+\beta_nI$. To find the
coefficients divide $x^n$ by the characteristic polynomial:
$$x^n=q(x)(x-2)(x-3)+\alpha_nx+\beta_n.$$
Insert $x=2$ and $x=3$ to get $2^n=2\alpha_n+\beta_n$ and $3^n=3\alpha_n+\beta_n$, hence
$$\alpha_n=3^n-2^n,\qquad\beta_n=3\cdot2^n-2\cdot3^n.$$
So $A^n=(3^n-2^n)A+(3\cdot2^n-2\cdot3^n)I$ for every matrix with these two eigenvalues.
If there is a double eigenvalue $\mu$, use the derivative $n\mu^{n-1}=\alpha_n$ as the
second equation.""",
                score=13,
            ),
        ),
    ),
    Thread(
        key="linear_algebra/fibonacci-matrix",
        title=r"Fibonacci numbers and powers of $\begin{pmatrix}1&1\\1&0\end{pmatrix}$",
        question=r"""The Fibonacci numbers are $F_0=0$, $F_1=1$ and
$F_{n+1}=F_n+F_{n-1}$. A classmate claims that
$$\begin{pmatrix}1&1\\1&0\end{pmatrix}^n
=\begin{pmatrix}F_{n+1}&F_n\\F_n&F_{n-1}\end{pmatrix}$$
and that Binet's formula
$$F_n=\frac{1}{\sqrt5}\left(\varphi^n-\psi^n\right),\qquad
\varphi,\psi=\frac{1\pm\sqrt5}{2}$$
falls out "by diagonalisation". I can do the first claim by induction. For the second
one I started to compute eigenvectors and an inverse matrix, all full of $\sqrt5$, and
gave up after a page. Does it really fall out, and does the same idea work for other
recurrences of this kind?""",
        tags=("linear-algebra", "fibonacci-numbers", "recurrence-relations"),
        score=13,
        answers=(
            Answer(
                text=r"""Let $Q$ be the matrix. Its characteristic polynomial is
$\lambda^2-\lambda-1$ with the roots $\varphi$ and $\psi$, and for each root $\lambda$
the vector $(\lambda,1)^{\mathsf T}$ is an eigenvector, because
$\lambda+1=\lambda^2$. Now you do not even need the inverse of the matrix of
eigenvectors: decompose the start vector,
$$\begin{pmatrix}1\\0\end{pmatrix}=\frac{1}{\varphi-\psi}\left[
\begin{pmatrix}\varphi\\1\end{pmatrix}-\begin{pmatrix}\psi\\1\end{pmatrix}\right],$$
and apply $Q^n$, which multiplies the two vectors by $\varphi^n$ and $\psi^n$. The
second component reads $F_n=\frac{\varphi^n-\psi^n}{\varphi-\psi}$, and
$\varphi-\psi=\sqrt5$. Every linear recurrence of order two with two distinct roots can
be solved in this way.""",
                accepted=True,
                score=15,
            ),
            Answer(
                text=r"""Two more things that fall out of the matrix identity. Taking
determinants gives Cassini's identity
$$F_{n+1}F_{n-1}-F_n^2=(-1)^n,$$
and squaring, $Q^{2n}=Q^nQ^n$, gives $F_{2n}=F_n(F_{n+1}+F_{n-1})$ and
$F_{2n+1}=F_{n+1}^2+F_n^2$. With these doubling formulas you can compute $F_n$ with
about $\log_2n$ steps, which is much better in practice than Binet's formula in floating
point arithmetic. Programmers use exactly this to get the last digits of enormous
Fibonacci numbers.""",
                score=6,
            ),
        ),
    ),
    Thread(
        key="linear_algebra/gram-rank",
        title=r"Why is $\operatorname{rank}(A^{\mathsf T}A)=\operatorname{rank}(A)$?",
        question=r"""For a real $m\times n$ matrix $A$ I want to show
$$\operatorname{rank}(A^{\mathsf T}A)=\operatorname{rank}(A).$$
The inequality $\operatorname{rank}(A^{\mathsf T}A)\le\operatorname{rank}(A)$ is clear
from $\operatorname{rank}(XY)\le\min(\operatorname{rank}X,\operatorname{rank}Y)$. For
the other direction I have no idea, since $A^{\mathsf T}$ could destroy something.

It must have to do with real numbers, because for the complex matrix
$A=\begin{pmatrix}1\\i\end{pmatrix}$ we get $A^{\mathsf T}A=0$. So the proof has to use
something about sums of squares, I guess, but I do not see how squares come in.""",
        tags=("linear-algebra", "matrix-rank"),
        score=10,
        answers=(
            Answer(
                text=r"""Compare kernels instead of images. Clearly $Ax=0$ implies
$A^{\mathsf T}Ax=0$. Conversely, if $A^{\mathsf T}Ax=0$, multiply by $x^{\mathsf T}$:
$$0=x^{\mathsf T}A^{\mathsf T}Ax=(Ax)^{\mathsf T}(Ax)=\|Ax\|^2,$$
so $Ax=0$. This is where real numbers enter, a sum of squares vanishes only if every
square does. So $\ker(A^{\mathsf T}A)=\ker A$, and since both matrices have $n$ columns,
the rank–nullity theorem gives equal ranks. In the complex case use the conjugate
transpose $A^*$.""",
                accepted=True,
                score=17,
            ),
            Answer(
                text=r"""With the singular value decomposition $A=U\Sigma V^{\mathsf T}$
it is immediate:
$$A^{\mathsf T}A=V\Sigma^{\mathsf T}U^{\mathsf T}U\Sigma V^{\mathsf T}
=V(\Sigma^{\mathsf T}\Sigma)V^{\mathsf T}.$$
The diagonal matrix $\Sigma^{\mathsf T}\Sigma$ contains the squares $\sigma_i^2$, and
$\sigma_i^2\ne0$ exactly when $\sigma_i\ne0$. Multiplying by the invertible matrices $U$
and $V$ does not change the rank, so both ranks equal the number of nonzero singular
values. Heavier machinery, but it also tells you that the condition number gets
squared.""",
                score=6,
            ),
        ),
    ),
    Thread(
        key="linear_algebra/symmetric-real-spectrum",
        title=r"Eigenvalues of a real symmetric matrix are real: short proof?",
        question=r"""Let $S\in\mathbb{R}^{n\times n}$ with $S^{\mathsf T}=S$. For $n=2$
the characteristic polynomial of $\begin{pmatrix}a&b\\b&d\end{pmatrix}$ has the
discriminant $(a-d)^2+4b^2\ge0$, so both eigenvalues are real. For general $n$ I cannot
argue with discriminants any more.

I know that over $\mathbb{C}$ there is always an eigenvector $v$, with $Sv=\lambda v$.
How does symmetry force $\lambda=\bar\lambda$? I always get lost with the transposes and
bars.""",
        tags=("linear-algebra", "eigenvalues-eigenvectors", "symmetric-matrices"),
        score=9,
        answers=(
            Answer(
                text=r"""Compute the number $\bar v^{\mathsf T}Sv$ in two ways. On the
one hand
$$\bar v^{\mathsf T}Sv=\bar v^{\mathsf T}(\lambda v)=\lambda\,\|v\|^2.$$
On the other hand, since $S$ is real and symmetric,
$$\bar v^{\mathsf T}Sv=(S\bar v)^{\mathsf T}v=(\overline{Sv})^{\mathsf T}v
=\bar\lambda\,\|v\|^2.$$
As $\|v\|^2=\sum|v_i|^2>0$, we conclude $\lambda=\bar\lambda$. To keep the bars and
transposes apart, remember that a number equals its own transpose, and that the bar
passes through $S$ because its entries are real. The same two lines show that
eigenvectors for different eigenvalues are orthogonal.""",
                accepted=True,
                score=13,
            ),
            Answer(
                text=r"""A proof that never leaves the real numbers: the continuous
function $q(x)=x^{\mathsf T}Sx$ attains a maximum on the compact unit sphere, say at
$v$. With a Lagrange multiplier for the constraint $x^{\mathsf T}x=1$,
$$\nabla q(v)=2Sv=2\lambda v,$$
so $v$ is a real eigenvector and $\lambda=q(v)$ a real eigenvalue. Next restrict $S$ to
the orthogonal complement $v^\perp$, which is invariant because
$(Sw)^{\mathsf T}v=w^{\mathsf T}Sv=\lambda w^{\mathsf T}v=0$, and repeat. After $n$
steps you have an orthonormal basis of real eigenvectors, the whole spectral
theorem.""",
                score=10,
            ),
        ),
    ),
    Thread(
        key="linear_algebra/projection-trace",
        title=r"If $P^2=P$, then $\operatorname{tr}P=\operatorname{rank}P$",
        question=r"""Let $P$ be an $n\times n$ matrix with $P^2=P$ (a projection). For
the examples $P=I$, $P=0$ and $P=\begin{pmatrix}1&1\\0&0\end{pmatrix}$ the trace equals
the rank. I would like to prove
$$\operatorname{tr}P=\operatorname{rank}P$$
in general.

From $P^2=P$ I can deduce that every eigenvalue satisfies $\lambda^2=\lambda$, so
$\lambda\in\{0,1\}$. Then the trace, being the sum of the eigenvalues, counts the
eigenvalue $1$. But why is that the rank? The algebraic multiplicity could be bigger
than the dimension of the eigenspace.""",
        tags=("linear-algebra", "trace", "projection-matrices"),
        score=6,
        answers=(
            Answer(
                text=r"""A projection is diagonalisable, because of the decomposition
$$x=Px+(x-Px),\qquad P(Px)=Px,\quad P(x-Px)=Px-P^2x=0.$$
So $\mathbb{R}^n=\operatorname{im}P\oplus\ker P$, the first summand is the eigenspace
for $1$ and the second one the eigenspace for $0$. In a basis adapted to this sum the
matrix becomes $\begin{pmatrix}I_r&0\\0&0\end{pmatrix}$ with
$r=\dim\operatorname{im}P=\operatorname{rank}P$, and the trace does not depend on the
basis. So there are no nontrivial Jordan blocks, and the two multiplicities that you
worried about agree.""",
                accepted=True,
                score=9,
            ),
            Answer(
                text=r"""Without eigenvalues: let $r=\operatorname{rank}P$ and factor
$P=CR$ with an $n\times r$ matrix $C$ of full column rank and an $r\times n$ matrix $R$
of full row rank. Then $P^2=P$ reads $CRCR=CR$, and cancelling $C$ on the left and $R$
on the right gives $RC=I_r$. Therefore
$$\operatorname{tr}P=\operatorname{tr}(CR)=\operatorname{tr}(RC)
=\operatorname{tr}(I_r)=r.$$
This works over every field of characteristic zero. I like it because it only needs the
rule for the trace of a product and no decomposition of the space.""",
                score=7,
            ),
        ),
    ),
)


def _key(*numbers: int) -> str:
    """Numbers as a part of a key, ``m`` for minus."""
    return "-".join(str(number).replace("-", "m") for number in numbers)


def _matrix(entries: tuple[int, int, int, int]) -> str:
    """A 2x2 matrix in LaTeX."""
    a, b, c, d = entries
    return rf"\begin{{pmatrix}}{a}&{b}\\{c}&{d}\end{{pmatrix}}"


def _column(x: object, y: object) -> str:
    """A column of two entries in LaTeX."""
    return rf"\begin{{pmatrix}}{x}\\{y}\end{{pmatrix}}"


_EIGEN_CASES = ((2, 3, 4, 1), (5, -2, 6, -2), (6, -4, 2, 0))

_EIGEN_WORDINGS = (
    (
        r"Eigenvectors of $%(matrix)s$: my system has infinitely many solutions",
        r"""First time that I compute eigenvectors, so please be patient. For
$A=%(matrix)s$ I found $\det(A-\lambda I)=%(poly)s$ and the eigenvalues
$\lambda_1=%(l1)s$, $\lambda_2=%(l2)s$. Now I solve $(A-%(l1)sI)v=0$ and get two
equations that are multiples of each other. So there are infinitely many solutions! Did
I make a mistake, or which one is *the* eigenvector? My classmate has different numbers
in his solution, and the tutor accepted both.""",
        (
            r"""No mistake: that is how it has to be. If the system had only the
solution $v=0$, then $%(l1)s$ would not be an eigenvalue. Every nonzero solution is an
eigenvector, so pick a convenient one. For $\lambda_1=%(l1)s$ the first row says
$%(row1)s=0$, and
$$v_1=%(v1)s$$
solves it. For $\lambda_2=%(l2)s$ you get $%(row2)s=0$, so take $v_2=%(v2)s$. Check the
first one: $Av_1=%(av1)s=%(l1)s\,v_1$. All other eigenvectors are multiples of these
two.""",
            r"""A shortcut for $2\times2$ matrices: if the upper right entry $b$ is not
zero, then
$$v=\begin{pmatrix}b\\\lambda-a\end{pmatrix}$$
is an eigenvector for the eigenvalue $\lambda$, where $a$ is the upper left entry. It
solves the first equation $(a-\lambda)x+by=0$ by construction, and the second one is a
multiple of the first. Here it gives multiples of $%(v1)s$ and $%(v2)s$. As a check, the
sum of the eigenvalues is the trace $%(trace)s$ and their product is the determinant
$%(det)s$.""",
        ),
    ),
    (
        r"Diagonalise a $2\times2$ matrix with eigenvalues $%(l1)s$ and $%(l2)s$",
        r"""Problem 3 on our sheet: "Find an invertible matrix $S$ such that
$S^{-1}BS$ is diagonal, where $B=%(matrix)s$." I know the definition of an eigenvalue,
but I fail to connect it with the matrix $S$. In which order do I have to put the
eigenvectors into $S$, and does it matter how I scale them? A fully worked solution
would help me for the other parts.""",
        (
            r"""The connection: the equation $BS=SD$ with $D$ diagonal says, column by
column, that the $j$-th column of $S$ is an eigenvector of $B$ for the $j$-th entry of
$D$. So the order is your choice, as long as $S$ and $D$ agree, and so is the scaling.

Here $\operatorname{tr}B=%(trace)s$ and $\det B=%(det)s$, so
$$\chi_B(\lambda)=%(poly)s=(\lambda-%(p1)s)(\lambda-%(p2)s).$$
Eigenvectors are $%(v1)s$ for $%(l1)s$ and $%(v2)s$ for $%(l2)s$. Hence
$$S=%(basis)s,\qquad S^{-1}BS=%(diagonal)s.$$""",
        ),
    ),
    (
        r"Geometric meaning of the eigenvalues of $T(x,y)=(%(map1)s,\,%(map2)s)$",
        r"""Let $T:\mathbb{R}^2\to\mathbb{R}^2$ be the linear map
$T(x,y)=(%(map1)s,\,%(map2)s)$. I can compute that its matrix $%(matrix)s$ has the
eigenvalues $%(l1)s$ and $%(l2)s$, but what does this *mean* for the picture? What does
$T$ do with a square or with a circle, and what happens to a vector if I apply $T$ many
times? I would like to understand the numbers, not only to produce them.""",
        (
            r"""There are two special lines through the origin that $T$ maps to
themselves: the line through $%(v1)s$, on which every vector is multiplied by $%(l1)s$,
and the line through $%(v2)s$, on which the factor is $%(l2)s$. Any vector can be
written as $w=sv_1+tv_2$, and then
$$T^n(w)=%(l1)s^n\,s\,v_1+%(l2)s^n\,t\,v_2.$$
A parallelogram with sides along the two lines is stretched in both directions, so areas
are multiplied by $%(l1)s\cdot%(l2)s=%(det)s$, the determinant. If you iterate, the term
with the bigger eigenvalue wins, and the direction of $T^n(w)$ approaches the line of
$v_1$ (unless $s=0$).""",
        ),
    ),
)


def _signed(terms: tuple[tuple[int, str], ...]) -> str:
    """A linear form such as ``-3x+3y``, without the terms that vanish."""
    out = ""
    for factor, name in terms:
        if factor:
            size = "" if abs(factor) == 1 and name else str(abs(factor))
            out += ("-" if factor < 0 else "+" if out else "") + size + name
    return out or "0"


def _eigen_threads(rng: random.Random) -> list[Thread]:
    """Eigenvalues and eigenvectors of integer 2x2 matrices, the larger one first."""
    threads = []
    scores = rng.sample(range(1, 11), k=len(_EIGEN_CASES))
    wordings = zip(_EIGEN_CASES, _EIGEN_WORDINGS, scores, strict=True)
    for entries, (title, question, answers), score in wordings:
        a, b, c, d = entries
        trace, det = a + d, a * d - b * c
        root = isqrt(trace * trace - 4 * det)
        l1, l2 = (trace + root) // 2, (trace - root) // 2
        (x1, y1), (x2, y2) = (_eigenvector(entries, value) for value in (l1, l2))
        values = {
            "matrix": _matrix(entries),
            "trace": trace,
            "det": det,
            "poly": _signed(((1, r"\lambda^2"), (-trace, r"\lambda"), (det, ""))),
            "l1": l1,
            "l2": l2,
            "p1": l1 if l1 >= 0 else f"({l1})",
            "p2": l2 if l2 >= 0 else f"({l2})",
            "row1": _signed(((a - l1, "x"), (b, "y"))),
            "row2": _signed(((a - l2, "x"), (b, "y"))),
            "v1": _column(x1, y1),
            "v2": _column(x2, y2),
            "av1": _column(l1 * x1, l1 * y1),
            "basis": _matrix((x1, x2, y1, y2)),
            "diagonal": _matrix((l1, 0, 0, l2)),
            "map1": _signed(((a, "x"), (b, "y"))),
            "map2": _signed(((c, "x"), (d, "y"))),
        }
        threads.append(
            Thread(
                key="linear_algebra/eigen-" + _key(*entries),
                title=title % values,
                question=question % values,
                tags=("linear-algebra", "eigenvalues-eigenvectors"),
                score=score,
                answers=tuple(
                    Answer(text=text % values, accepted=i == 0, score=score + 2 - i)
                    for i, text in enumerate(answers)
                ),
            )
        )
    return threads


def _eigenvector(entries: tuple[int, int, int, int], value: int) -> tuple[int, int]:
    """A primitive integer eigenvector; the upper right entry is not zero."""
    a, b = entries[:2]
    x, y = b, value - a
    common = gcd(x, y) * (-1 if x < 0 else 1)
    return x // common, y // common


_FIT_CASES = (
    ((0, 1), (1, 2), (2, 4)),
    ((-1, 0), (0, 1), (1, 1), (2, 3)),
    ((1, 1), (2, 3), (3, 4), (4, 4)),
)

_FIT_WORDINGS = (
    (
        r"Best straight line through three points that are not collinear",
        r"""Given the points $%(points)s$ I want to find the line $y=mx+q$ that fits
best in the sense of least squares. Written as a linear system this is
$$%(system)s$$
which has no solution since the points are not on a line. My notes say "multiply with
the transpose and solve $A^{\mathsf T}Az=A^{\mathsf T}b$ instead". It works, but why
should that give the *best* line, and what do I get here?""",
        (
            r"""The vector $Az$ runs through the column space of $A$. The point of this
plane which is closest to $b$ is the orthogonal projection, so the error $b-Az$ must be
perpendicular to every column: $A^{\mathsf T}(b-Az)=0$. That is the normal equation
$A^{\mathsf T}Az=A^{\mathsf T}b$. With your numbers
$$%(gram)s\begin{pmatrix}m\\q\end{pmatrix}=%(rhs)s,$$
and the solution is $m=%(m)s$, $q=%(q)s$. The sum of the squared errors for this line is
$%(error)s$, and no other line has a smaller one.""",
            r"""If you prefer calculus: minimise $E(m,q)=\sum_i(mx_i+q-y_i)^2$. Setting
$\frac{\partial E}{\partial q}=0$ shows that the line passes through the centre of
gravity $(\bar x,\bar y)=\left(%(mean_x)s,%(mean_y)s\right)$, and
$\frac{\partial E}{\partial m}=0$ gives
$$m=\frac{\sum_i(x_i-\bar x)(y_i-\bar y)}{\sum_i(x_i-\bar x)^2}=%(m)s.$$
These two equations are exactly the two rows of the normal equation. $E$ is a convex
quadratic function, so the stationary point is the minimum. Both derivations are worth
knowing, since the geometric one generalises to more unknowns without any change.""",
        ),
    ),
    (
        r"Normal equations by hand: line of regression for four data points",
        r"""Could someone check my computation? The data are $%(points)s$, and the model
is $y=mx+q$. I set up $A^{\mathsf T}A=%(gram)s$ and $A^{\mathsf T}b=%(rhs)s$, where the
first column of $A$ contains the $x_i$ and the second one is all ones. Then I obtained
$m=%(m)s$, but for $q$ I get something that makes the line miss all four points. Is it
possible that the best line passes through none of the data points?""",
        (
            r"""Your matrices are right. Solving with Cramer's rule, the determinant of
$A^{\mathsf T}A$ is $%(gram_det)s$, and
$$m=%(m)s,\qquad q=%(q)s.$$
And yes, it is perfectly possible that a regression line meets none of the points; it
balances the errors instead. What you *can* check is that the residuals
$r_i=y_i-mx_i-q$, here $%(residuals)s$, satisfy $\sum_ir_i=0$ and $\sum_ix_ir_i=0$.
These two conditions are the normal equations themselves. The minimal sum of squares is
$%(error)s$.""",
        ),
    ),
    (
        r"Fitting a line: what does $\hat z=(A^{\mathsf T}A)^{-1}A^{\mathsf T}b$ do?",
        r"""In physics lab we fit measured values $%(points)s$ by a line. The software
documentation says that it computes
$$\hat z=(A^{\mathsf T}A)^{-1}A^{\mathsf T}b,$$
where the rows of $A$ are $(x_i,1)$. If $A$ were square and invertible, this would be
just $A^{-1}b$, so it looks like a generalised inverse. When does
$(A^{\mathsf T}A)^{-1}$ exist, and what are slope and intercept for our data?""",
        (
            r"""The matrix $A^{\mathsf T}A$ is invertible exactly when the columns of
$A$ are linearly independent, which here means that not all $x_i$ are equal. The matrix
$A^+=(A^{\mathsf T}A)^{-1}A^{\mathsf T}$ is the Moore–Penrose inverse in this case: it
satisfies $A^+A=I$, and $AA^+$ is the orthogonal projection onto the column space. For
your data
$$(A^{\mathsf T}A)^{-1}=\frac{1}{%(gram_det)s}%(gram_adj)s,\qquad
A^{\mathsf T}b=%(rhs)s,$$
so the slope is $%(m)s$ and the intercept is $%(q)s$. In numerical software one would
use a QR decomposition of $A$ rather than forming $A^{\mathsf T}A$.""",
        ),
    ),
)


def _latex(value: Fraction) -> str:
    """An exact number in LaTeX."""
    if value.denominator == 1:
        return str(value)
    sign = "-" if value < 0 else ""
    return rf"{sign}\frac{{{abs(value.numerator)}}}{{{value.denominator}}}"


def _fit_threads(rng: random.Random) -> list[Thread]:
    """Lines of least squares through a few integer points."""
    threads = []
    scores = rng.sample(range(1, 12), k=len(_FIT_CASES))
    wordings = zip(_FIT_CASES, _FIT_WORDINGS, scores, strict=True)
    for points, (title, question, answers), score in wordings:
        n = len(points)
        sx, sy = sum(x for x, _ in points), sum(y for _, y in points)
        sxx, sxy = sum(x * x for x, _ in points), sum(x * y for x, y in points)
        det = n * sxx - sx * sx
        m, q = Fraction(n * sxy - sx * sy, det), Fraction(sxx * sy - sx * sxy, det)
        residuals = [y - m * x - q for x, y in points]
        rows = r"\\".join(f"{x}&1" for x, _ in points)
        right = r"\\".join(str(y) for _, y in points)
        values = {
            "points": r",\ ".join(f"({x},{y})" for x, y in points),
            "system": rf"\begin{{pmatrix}}{rows}\end{{pmatrix}}{_column('m', 'q')}"
            rf"=\begin{{pmatrix}}{right}\end{{pmatrix}},",
            "gram": _matrix((sxx, sx, sx, n)),
            "gram_adj": _matrix((n, -sx, -sx, sxx)),
            "gram_det": det,
            "rhs": _column(sxy, sy),
            "m": _latex(m),
            "q": _latex(q),
            "mean_x": _latex(Fraction(sx, n)),
            "mean_y": _latex(Fraction(sy, n)),
            "residuals": r",\ ".join(_latex(r) for r in residuals),
            "error": _latex(sum((r * r for r in residuals), Fraction(0))),
        }
        threads.append(
            Thread(
                key="linear_algebra/least-squares-" + _key(*(y for _, y in points)),
                title=title % values,
                question=question % values,
                tags=("linear-algebra", "least-squares", "regression"),
                score=score,
                answers=tuple(
                    Answer(text=text % values, accepted=i == 0, score=score + 1 - i)
                    for i, text in enumerate(answers)
                ),
            )
        )
    return threads


def threads(rng: random.Random) -> list[Thread]:
    """The threads of this area."""
    return [*_HAND_WRITTEN, *_eigen_threads(rng), *_fit_threads(rng)]


ANSWER_TOPICS: tuple[AnswerTopic, ...] = (
    AnswerTopic(
        key="linear_algebra/topic-swapped-factors",
        title=r"Invertibility after the two factors are swapped",
        question=r"""Let $A$ and $B$ be complex $n\times n$ matrices such that $I-AB$ is
invertible. I am asked to show that $I-BA$ is invertible as well. If I pretend that the
geometric series converges, then $(I-BA)^{-1}=I+BA+BABA+\cdots$, and pulling out $B$ on
the left and $A$ on the right suggests
$$(I-BA)^{-1}=I+B(I-AB)^{-1}A$$
But the series has no reason to converge. Can the formula be justified, or is there a
different argument, for instance with determinants or eigenvalues, that shows
$I-BA$ is invertible?""",
        tags=("linear-algebra", "matrices", "inverse"),
        grades={
            "linear_algebra/sylvester-determinant#1": 3,
            "linear_algebra/sylvester-determinant#2": 3,
            "linear_algebra/ab-ba-eigenvalues#1": 2,
            "linear_algebra/ab-ba-eigenvalues#2": 2,
            "linear_algebra/ab-ba-eigenvalues#3": 2,
            "linear_algebra/sherman-morrison#1": 1,
            "linear_algebra/sherman-morrison#2": 1,
            "linear_algebra/commutator-identity#1": 0,
            "linear_algebra/commutator-identity#2": 0,
            "linear_algebra/gram-rank#1": 0,
            "linear_algebra/projection-trace#1": 0,
            "linear_algebra/projection-trace#2": 0,
            "linear_algebra/power-of-matrix#1": 0,
            "linear_algebra/symmetric-real-spectrum#1": 0,
            "linear_algebra/least-squares-1-3-4-4#1": 0,
            "differential_equations/defective-system#1": 0,
        },
        category="Proof",
        difficulty="Medium",
        dependency="Both",
    ),
    AnswerTopic(
        key="linear_algebra/topic-recurrence-power",
        title=r"Closed form for the entries of a power of a companion matrix",
        question=r"""The recurrence $x_{n+1}=5x_n-6x_{n-1}$ can be written with the
vector $(x_{n+1},x_n)$ and a matrix, so that everything reduces to
$$\begin{pmatrix}5&-6\\1&0\end{pmatrix}^n$$
For $n=2,3$ I multiplied the matrices by hand; for $n=100$ this is hopeless. I would
like an explicit expression in $n$ for all four entries, and I would like to understand
a method which I can reuse for other $2\times2$ matrices. Does one need the inverse of a
matrix of eigenvectors, or is there a shortcut?""",
        tags=("linear-algebra", "matrices", "recurrence-relations"),
        grades={
            "linear_algebra/power-of-matrix#1": 3,
            "linear_algebra/power-of-matrix#2": 3,
            "linear_algebra/fibonacci-matrix#1": 2,
            "linear_algebra/eigen-5-m2-6-m2#1": 2,
            "linear_algebra/eigen-6-m4-2-0#1": 1,
            "linear_algebra/eigen-2-3-4-1#2": 1,
            "linear_algebra/fibonacci-matrix#2": 1,
            "differential_equations/defective-system#1": 0,
            "differential_equations/real-roots-1-3#1": 0,
            "linear_algebra/symmetric-real-spectrum#1": 0,
            "linear_algebra/projection-trace#1": 0,
            "linear_algebra/ab-ba-eigenvalues#1": 0,
            "linear_algebra/commutator-identity#1": 0,
            "linear_algebra/least-squares-1-2-4#1": 0,
            "complex_analysis/conjugate#2": 0,
            "inequalities/bernoulli#1": 0,
        },
        category="Computation",
        difficulty="Medium",
        dependency="Both",
    ),
)

FORMULA_TOPICS: tuple[FormulaTopic, ...] = (
    FormulaTopic(
        topic="linear_algebra/topic-swapped-factors",
        latex=r"(I-BA)^{-1}=I+B(I-AB)^{-1}A",
        grades={
            r"(I+BA)^{-1}=I-B(I+AB)^{-1}A": 3,
            r"\det(I-AB)=\det(I-BA)": 2,
            r"\det(I_m+AB)=\det(I_n+BA)": 2,
            r"(A+uv^T)^{-1}=A^{-1}-\frac{A^{-1}uv^TA^{-1}}{1+v^TA^{-1}u}": 2,
            r"(I+BA)B=B(I+AB)": 2,
            r"(I+xv^T)^{-1}=I-xv^T+xv^Txv^T-\cdots": 1,
            r"BA=A^{-1}(AB)A": 1,
            r"AB-BA=I\,?": 0,
            r"DQ-QD=I": 0,
            r"A=PDP^{-1}": 0,
            r"\hat z=(A^{\mathsf T}A)^{-1}A^{\mathsf T}b": 0,
            r"A=U\Sigma V^{\mathsf T}": 0,
            r"S^{-1}BS": 0,
            r"\operatorname{tr}(AB-BA)=0": 0,
            r"P^2=P": 0,
        },
    ),
    FormulaTopic(
        topic="linear_algebra/topic-recurrence-power",
        latex=r"\begin{pmatrix}5&-6\\1&0\end{pmatrix}^n",
        grades={
            r"A^n=PD^nP^{-1}=\begin{pmatrix}2\cdot3^n-2^n&2^{n+1}-2\cdot3^n\\ "
            r"3^n-2^n&2^{n+1}-3^n\end{pmatrix}.": 3,
            r"A^n=(3^n-2^n)A+(3\cdot2^n-2\cdot3^n)I": 3,
            r"\begin{pmatrix}1&1\\1&0\end{pmatrix}^n "
            r"=\begin{pmatrix}F_{n+1}&F_n\\F_n&F_{n-1}\end{pmatrix}": 2,
            r"A^n=\alpha_nA+\beta_nI": 2,
            r"A^n=PDP^{-1}PDP^{-1}\cdots PDP^{-1}": 2,
            r"A=\begin{pmatrix}4&-2\\1&1\end{pmatrix}.": 1,
            r"\begin{pmatrix}1&1\\1&0\end{pmatrix}": 1,
            r"\begin{pmatrix}a&-b\\b&a\end{pmatrix},": 0,
            r"\begin{pmatrix}1&0\\0&-1\end{pmatrix}": 0,
            r"\begin{pmatrix}a&b\\b&d\end{pmatrix}": 0,
            r"N=\begin{pmatrix}1&1\\-1&-1\end{pmatrix},\qquad N^2=0.": 0,
            r"\begin{pmatrix}I_m&-A\\B&I_n\end{pmatrix}.": 0,
            r"P=\begin{pmatrix}1&1\\0&0\end{pmatrix}": 0,
            r"A=\begin{pmatrix}1\\i\end{pmatrix}": 0,
        },
    ),
)
