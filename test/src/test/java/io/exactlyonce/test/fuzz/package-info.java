/** Hostile input, by seeds: what senders, handlers and configurations may come up with, and what must not become of it. */
@NullMarked
package io.exactlyonce.test.fuzz;

import org.jspecify.annotations.NullMarked;
