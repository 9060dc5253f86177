@NullMarked
package io.exactlyonce.benchmarks.worker;

import org.jspecify.annotations.NullMarked;
