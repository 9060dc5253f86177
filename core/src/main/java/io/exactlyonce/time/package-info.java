/** The clock and the chance that the engine is given, so that tests can decide both. It uses the boundary, and no other package of ours. */
@NullMarked
package io.exactlyonce.time;

import org.jspecify.annotations.NullMarked;
