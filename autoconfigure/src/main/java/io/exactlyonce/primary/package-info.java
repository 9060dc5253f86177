/**
 * A small connection pool that reaches only the primary, and the proof that it does. It uses no other package of ours.
 */
@NullMarked
package io.exactlyonce.primary;

import org.jspecify.annotations.NullMarked;
