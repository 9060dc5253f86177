@NullMarked
package io.exactlyonce.benchmarks.startup;

import org.jspecify.annotations.NullMarked;
