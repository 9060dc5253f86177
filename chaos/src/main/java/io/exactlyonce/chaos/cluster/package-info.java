/** The servers with faults: PostgreSQL with its replica, SQS, and the wires to them. */
@NullMarked
package io.exactlyonce.chaos.cluster;

import org.jspecify.annotations.NullMarked;
