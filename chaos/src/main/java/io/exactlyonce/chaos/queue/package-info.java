/** The queues: what is sent, what workers receive, delete and return, and what is left in the end. */
@NullMarked
package io.exactlyonce.chaos.queue;

import org.jspecify.annotations.NullMarked;
