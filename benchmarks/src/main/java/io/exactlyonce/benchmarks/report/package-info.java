/** What a run of the benchmarks leaves behind. */
@NullMarked
package io.exactlyonce.benchmarks.report;

import org.jspecify.annotations.NullMarked;
