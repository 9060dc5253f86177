/** The servers that are broken on purpose: PostgreSQL with its replica, SQS, and the wires that lead to them. */
@NullMarked
package io.exactlyonce.chaos.cluster;

import org.jspecify.annotations.NullMarked;
