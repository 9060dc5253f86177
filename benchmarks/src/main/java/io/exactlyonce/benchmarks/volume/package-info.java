@NullMarked
package io.exactlyonce.benchmarks.volume;

import org.jspecify.annotations.NullMarked;
