/** The resources that a worker holds over a long run, and whether they grow. */
@NullMarked
package io.exactlyonce.chaos.soak;

import org.jspecify.annotations.NullMarked;
