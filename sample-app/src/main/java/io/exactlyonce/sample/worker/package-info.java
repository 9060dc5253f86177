/** The order worker: an ordinary Spring Boot application, once with the incident's listener and once with ours. */
@NullMarked
package io.exactlyonce.sample.worker;

import org.jspecify.annotations.NullMarked;
