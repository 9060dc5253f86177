/**
 * Internal: the entry of foreign threads into the engine, the handling of crashes there, the causes of failures, foreign
 * texts in logs, and the hashes of keys. Every package may use it.
 *
 * <p>This package uses no other package.
 */
@NullMarked
package io.exactlyonce.boundary;

import org.jspecify.annotations.NullMarked;
