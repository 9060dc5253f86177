/**
 * The protocol as a small state machine, explored exhaustively: two workers, one key, a message and its duplicate. What it
 * has and what it leaves out is told in {@code docs/contributing/model.md}.
 */
@NullMarked
package io.exactlyonce.model;

import org.jspecify.annotations.NullMarked;
