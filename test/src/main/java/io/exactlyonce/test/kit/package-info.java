/**
 * A kit for tests of an application's own {@link io.exactlyonce.ExactlyOnceListener} methods. Tests simulate
 * duplicates, crashes, lost claims and outages in milliseconds, without SQS and without a database. Begin with
 * {@link io.exactlyonce.test.kit.ExactlyOnceTest}.
 */
@NullMarked
package io.exactlyonce.test.kit;

import org.jspecify.annotations.NullMarked;
