@NullMarked
package io.exactlyonce.benchmarks.latency;

import org.jspecify.annotations.NullMarked;
