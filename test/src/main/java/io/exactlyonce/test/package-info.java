/** What applications' tests use in place of a database. */
@NullMarked
package io.exactlyonce.test;

import org.jspecify.annotations.NullMarked;
