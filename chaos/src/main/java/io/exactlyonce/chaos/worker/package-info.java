/** The application under fire. Of the library it uses what any user has: the annotation and the claim. */
@NullMarked
package io.exactlyonce.chaos.worker;

import org.jspecify.annotations.NullMarked;
