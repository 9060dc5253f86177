/** The incident lab's command line. */
@NullMarked
package io.exactlyonce.sample;

import org.jspecify.annotations.NullMarked;
