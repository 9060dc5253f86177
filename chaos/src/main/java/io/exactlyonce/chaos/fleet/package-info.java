/** The workers' processes: started, killed, frozen, stopped and restarted. */
@NullMarked
package io.exactlyonce.chaos.fleet;

import org.jspecify.annotations.NullMarked;
