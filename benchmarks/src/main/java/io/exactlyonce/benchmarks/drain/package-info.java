@NullMarked
package io.exactlyonce.benchmarks.drain;

import org.jspecify.annotations.NullMarked;
