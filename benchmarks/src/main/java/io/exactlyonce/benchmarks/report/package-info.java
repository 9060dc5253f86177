/** The results of a benchmark run. */
@NullMarked
package io.exactlyonce.benchmarks.report;

import org.jspecify.annotations.NullMarked;
