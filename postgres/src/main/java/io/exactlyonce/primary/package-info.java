/**
 * A small connection pool that reaches only the primary and connects as the application connects, and the proof that it
 * does. Of ours it uses the base package only.
 */
@NullMarked
package io.exactlyonce.primary;

import org.jspecify.annotations.NullMarked;
