/** Random interleavings of several workers' calls, checked against what every claim store guarantees. */
@NullMarked
package io.exactlyonce.test.interleaving;

import org.jspecify.annotations.NullMarked;
