package io.exactlyonce.model;

import org.jspecify.annotations.Nullable;

/**
 * A step that may happen next.
 *
 * @param what text for the reader
 * @param fault whether a healthy system does without it
 * @param next the state after it
 * @param breach the rule that it breaks by itself, if any
 */
record Step(
        String what, boolean fault, State next, @Nullable String breach) {}
