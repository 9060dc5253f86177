/** Measurements: contestants that do the same work in turns, and their results. */
@NullMarked
package io.exactlyonce.benchmarks;

import org.jspecify.annotations.NullMarked;
