/** A claim store in memory, for the tests of applications. */
@NullMarked
package io.exactlyonce.test;

import org.jspecify.annotations.NullMarked;
