/** The order worker: an ordinary Spring Boot application, with the incident's listener or with ours. */
@NullMarked
package io.exactlyonce.sample.worker;

import org.jspecify.annotations.NullMarked;
