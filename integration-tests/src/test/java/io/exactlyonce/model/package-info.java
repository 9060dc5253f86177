/**
 * A small state machine of the protocol, explored exhaustively: two workers, one key, a message and its duplicate.
 * {@code docs/contributing/model.md} describes its contents and its limits.
 */
@NullMarked
package io.exactlyonce.model;

import org.jspecify.annotations.NullMarked;
