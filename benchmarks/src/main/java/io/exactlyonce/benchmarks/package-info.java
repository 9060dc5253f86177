/** Measurements: contestants that do the same work in turns, and what they took. */
@NullMarked
package io.exactlyonce.benchmarks;

import org.jspecify.annotations.NullMarked;
