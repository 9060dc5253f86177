/** The experiment: starts the servers and the workers, sends the orders, kills workers, and counts. */
@NullMarked
package io.exactlyonce.sample.lab;

import org.jspecify.annotations.NullMarked;
