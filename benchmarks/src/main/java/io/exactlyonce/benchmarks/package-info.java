/** Measurements: contestants that do the same work in turns, and the results. */
@NullMarked
package io.exactlyonce.benchmarks;

import org.jspecify.annotations.NullMarked;
