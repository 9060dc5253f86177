@NullMarked
package io.exactlyonce.benchmarks.process;

import org.jspecify.annotations.NullMarked;
