package io.exactlyonce.model;

import org.jspecify.annotations.Nullable;

/**
 * A step that may happen next.
 *
 * @param what text for the reader
 * @param fault whether the step happens only in an unhealthy system
 * @param next the state after the step
 * @param breach the rule that the step itself breaks, if any
 */
record Step(
        String what, boolean fault, State next, @Nullable String breach) {}
