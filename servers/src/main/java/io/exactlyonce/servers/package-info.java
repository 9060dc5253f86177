/** Servers for tests and development: PostgreSQL and SQS from Maven artifacts, without Docker. */
@NullMarked
package io.exactlyonce.servers;

import org.jspecify.annotations.NullMarked;
