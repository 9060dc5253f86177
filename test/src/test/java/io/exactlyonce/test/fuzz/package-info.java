/** Hostile input from seeds: values of senders, handlers and configurations, and the rules that must hold for them. */
@NullMarked
package io.exactlyonce.test.fuzz;

import org.jspecify.annotations.NullMarked;
