/** The queues: sent messages; messages that workers receive, delete and return; and messages that remain. */
@NullMarked
package io.exactlyonce.chaos.queue;

import org.jspecify.annotations.NullMarked;
