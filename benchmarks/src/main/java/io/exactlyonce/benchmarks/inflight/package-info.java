@NullMarked
package io.exactlyonce.benchmarks.inflight;

import org.jspecify.annotations.NullMarked;
