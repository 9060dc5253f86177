package io.exactlyonce.kotlin

import io.exactlyonce.ExactlyOnceOperations
import io.exactlyonce.test.kit.ExactlyOnceTest
import java.io.IOException
import org.assertj.core.api.Assertions.assertThat
import org.assertj.core.api.Assertions.assertThatIllegalArgumentException
import org.assertj.core.api.Assertions.assertThatThrownBy
import org.junit.jupiter.api.Test
import org.springframework.beans.factory.annotation.Autowired
import org.springframework.context.annotation.Configuration
import org.springframework.core.ParameterizedTypeReference

data class Receipt(val paymentId: String, val cents: Int)

/** The type is open, so that Kotlin's element type is `? extends Line`. */
open class Line(val sku: String, val count: Int) {
    override fun equals(other: Any?) = other is Line && other.sku == sku && other.count == count

    override fun hashCode() = sku.hashCode()
}

/** Code that runs once for its key, in each form of the API, in Kotlin. */
@ExactlyOnceTest
class OperationsTests @Autowired constructor(private val operations: ExactlyOnceOperations) {

    @Configuration(proxyBeanMethods = false)
    open class Application

    private var runs = 0

    private fun charge(id: String) = Receipt(id, 100 * ++runs)

    @Throws(IOException::class)
    private fun chargeFarAway(id: String): Receipt = if (runs++ == 0) throw IOException("provider is down") else Receipt(id, 100)

    @Test
    fun resultIsOfTheTypeThatIsNamed() {
        val first: Receipt = operations.once("payments", "P-1")
            .comparing("""{"cents":100}""")
            .parkInDoubt()
            .call(Receipt::class.java) { claim ->
                claim.ensureHeld()
                charge(claim.key())
            }
        val second: Receipt = operations.once("payments", "P-1").call(Receipt::class.java) { charge("P-1") }

        assertThat(first).isEqualTo(Receipt("P-1", 100))
        assertThat(second).isEqualTo(first)
    }

    @Test
    fun listHasElementsOfItsType() {
        val quote = { operations.once("quotes", "Q-1").call(object : ParameterizedTypeReference<List<Line>>() {}) { listOf(Line("s", ++runs)) } }

        val first: List<Line> = quote()

        assertThat(first).containsExactly(Line("s", 1))
        assertThat(quote()).isEqualTo(first)
        assertThatIllegalArgumentException()
            .isThrownBy { operations.once("quotes", "Q-2").call(List::class.java) { listOf(Line("s", 1)) } }
            .withMessageContaining("as in new ParameterizedTypeReference")
    }

    @Test
    fun actionWithoutResultRunsOnce() {
        repeat(2) { operations.once("mails", "M-1").run { claim -> runs += claim.attempt() } }
        repeat(2) { operations.once("mails", "M-2").run { runs += 1 } }

        assertThat(runs).isEqualTo(2)
    }

    @Test
    fun resultMayBeNull() {
        val find = { operations.once("searches", "S-1").call(Receipt::class.java) { if (runs++ == 0) null else charge("S-1") } }

        val first: Receipt? = find()

        assertThat(first).isNull()
        assertThat(find()).isNull()
    }

    /** Kotlin has no checked exceptions, so nothing needs to name them. */
    @Test
    fun checkedExceptionReachesTheCallerAndTheNextCallRunsAgain() {
        assertThatThrownBy { operations.once("payments", "P-2").call(Receipt::class.java) { chargeFarAway("P-2") } }
            .isInstanceOf(IOException::class.java)

        val second = operations.once("payments", "P-2").throwing(IOException::class.java).call(Receipt::class.java) { chargeFarAway("P-2") }

        assertThat(second).isEqualTo(Receipt("P-2", 100))
        operations.once("payments", "P-3").throwing(IOException::class.java).run { chargeFarAway("P-3") }
    }
}
