package io.exactlyonce.listener.expression;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.awspring.cloud.sqs.MessagingHeaders;
import io.awspring.cloud.sqs.listener.QueueAttributes;
import io.awspring.cloud.sqs.listener.SqsHeaders;
import io.exactlyonce.listener.method.InvalidListenerException;
import io.exactlyonce.listener.method.ListenerRig;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Date;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.messaging.Message;
import org.springframework.messaging.MessageHeaders;
import org.springframework.messaging.handler.annotation.Header;
import org.springframework.messaging.handler.annotation.Headers;
import org.springframework.messaging.support.GenericMessage;
import org.springframework.messaging.support.MessageBuilder;
import org.springframework.messaging.support.MessageHeaderAccessor;
import software.amazon.awssdk.services.sqs.model.MessageAttributeValue;
import software.amazon.awssdk.services.sqs.model.MessageSystemAttributeName;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Tests which expressions fail startup, and which are accepted. */
class ExpressionReadingTests {

    record OrderId(UUID value) {}

    record Reference(OrderId id) {}

    record Money(BigDecimal value, String currency) {}

    enum Status {
        OPEN
    }

    record Order(
            String orderId,
            OrderId id,
            Reference reference,
            Money total,
            Instant at,
            Date day,
            long cents,
            double price,
            Float weight,
            BigDecimal amount,
            boolean express,
            Status status,
            List<String> tags,
            List<Order> parts,
            Map<String, String> notes,
            Optional<String> voucher,
            char grade) {}

    /** A class with getters that is not final, similar to the output of annotation processors. */
    static class Parcel {
        private final Instant sent = Instant.EPOCH;

        public String getNumber() {
            return "P-7";
        }

        public Instant getSent() {
            return sent;
        }
    }

    /** Names of Spring's headers that a sender can also set as message attributes. */
    private static final Set<String> ATTRIBUTES =
            Set.of("contentType", "replyChannel", "errorChannel", "JavaType", "Sqs_Delay");

    interface Handlers {
        void order(Order order);

        void parcel(Parcel parcel);

        void untyped(Object order);

        void two(@Header("tenant") String tenant, Order order);

        void whole(Message<Order> orders);

        void sdk(software.amazon.awssdk.services.sqs.model.Message source);

        void id(@Header("id") String number);

        void idByConstant(@Header(MessageHeaders.ID) UUID number);

        void idByName(@Header UUID id);

        void handle(@Header("Sqs_ReceiptHandle") String handle);

        void headers(@Headers Map<String, Object> all);

        void messageHeaders(MessageHeaders all);

        void accessor(MessageHeaderAccessor accessor);

        void queue(QueueAttributes queue, Order order);

        void batch(List<Order> orders);

        void json(JsonNode order);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '"', textBlock = """
            order  | orderId                  | names 'orderId' without an argument         | write #order.orderId
            order  | orderId + '/'            | names 'orderId' without an argument         | write #order.orderId
            order  | order.orderId            | names 'order' without an argument           | write #order
            order  | payload.orderId          | names 'payload' without an argument         | write #payload
            order  | headers['tenant']        | names 'headers' without an argument         | write #headers
            order  | missing                  | names 'missing' without an argument         | write #order.missing
            two    | orderId                  | names 'orderId' without an argument         | write #order.orderId
            batch  | orderId                  | names 'orderId' without an argument         | write #payload.orderId
            parcel | getNumber()              | calls 'getNumber()' without an argument     | write #parcel.getNumber()
            order  | orderId()                | calls 'orderId()' without an argument       | write #order.orderId()
            order  | #root.payload            | reads '#root' without an argument           | begin with one of #headers, #message, #order, #payload
            order  | #this                    | reads '#this' without an argument           | begin with one of
            order  | #this?.x ?: #order.orderId | reads '#this' without an argument         | begin with one of
            order  | ['orderId']              | reads '['orderId']' without an argument     | begin with one of
            order  | ![#this]                 | reads '![#this]' without an argument        | begin with one of
            order  | #order.tags.?[#root.x]   | reads '#root' without an argument           | begin with one of
            order  | #order.orderId.concat(id) | names 'id' without an argument             | write #order.id
            order  | #order[orderId]          | names 'orderId' without an argument         | write ['orderId'] for a property
            order  | #order.tags[first]       | names 'first' without an argument           | write ['first'] for a property
            """)
    void nameWithoutAnArgumentIsRefused(String method, String expression, String problem, String remedy) {
        refused(method, expression, problem, remedy);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '"', textBlock = """
            order  | #order                   | '#order' of type io.exactlyonce.listener.expression.ExpressionReadingTests$Order, which cannot be a key | write #order.orderId or #order.cents or #order.amount or #order.status
            order  | #payload                 | ExpressionReadingTests$Order                | write #payload.orderId
            order  | #order.at                | java.time.Instant                           | write #order.at.toString()
            order  | #order?.at               | java.time.Instant                           | write #order?.at.toString()
            order  | #order.day               | java.util.Date                              | write #order.day.time
            order  | #order.id                | ExpressionReadingTests$OrderId              | write #order.id.value
            order  | #order.reference         | ExpressionReadingTests$Reference            | write #order.reference.id.value
            order  | #order.total             | ExpressionReadingTests$Money                | write #order.total.value or #order.total.currency
            order  | {#order.orderId, #order.cents} | java.util.List                        | concatenate its entries: #order.orderId + '/' + #order.cents
            order  | {#order.orderId}         | java.util.List                              | concatenate its entries: #order.orderId
            order  | {'id': #order.orderId}   | java.util.Map                               | name one of its entries
            order  | #order.cents > 3         | java.lang.Boolean                           | it has two values only
            order  | #order.cents == 3        | java.lang.Boolean                           | it has two values only
            order  | !#order.express          | java.lang.Boolean                           | it has two values only
            order  | #order.express           | java.lang.Boolean                           | it has two values only
            order  | #order.orderId matches 'A.*' | java.lang.Boolean                       | it has two values only
            order  | #order.cents between {1, 2} | java.lang.Boolean                        | it has two values only
            order  | #order instanceof T(String) | java.lang.Boolean                        | it has two values only
            order  | #order.tags              | java.util.List                              | name one of its elements, such as #order.tags[0]
            order  | #order.tags.![#this]     | java.util.List                              | name one of its elements
            order  | #order.tags.?[#this == 'x'] | java.util.List                           | name one of its elements
            order  | #order.parts.^[cents > 3] | ExpressionReadingTests$Order               | write #order.parts.^[(cents > 3)].orderId
            order  | #order.orderId.bytes     | byte[]                                      | name one of its elements
            order  | #order.notes             | java.util.Map                               | name one of its entries, such as #order.notes['id']
            order  | #order.voucher           | java.util.Optional                          | write #order.voucher.orElse(null)
            order  | #order.grade             | java.lang.Character                         | write #order.grade.toString()
            order  | #headers                 | org.springframework.messaging.MessageHeaders | name one of its entries
            order  | #message                 | org.springframework.messaging.Message       | let a bean make it
            order  | #order.express ? #order : #order.orderId | has the result '#order'     | write #order.orderId
            order  | #order.orderId ?: #order.at | has the result '#order.at'             | write #order.at.toString()
            order  | #order.price             | java.lang.Double                            | its text is rounded
            order  | #order.weight            | java.lang.Float                             | its text is rounded
            order  | #order.cents * 1.5       | java.lang.Double                            | its text is rounded
            order  | #order.price + #order.cents | java.lang.Double                         | its text is rounded
            order  | -#order.price            | java.lang.Double                            | its text is rounded
            order  | #order.express ? T(String) : #order.orderId | has the result 'T(String)'  | call a static method
            order  | #order.tags.clear()      | of type void                                | call a method that returns the key
            order  | new java.util.Date(#order.cents) | java.util.Date                      | .time
            order  | new String[] {#order.orderId} | java.lang.String[]                     | name one of its elements
            parcel | #parcel                  | ExpressionReadingTests$Parcel               | write #parcel.number
            parcel | #parcel.sent             | java.time.Instant                           | write #parcel.sent.toString()
            parcel | #parcel.getSent()        | java.time.Instant                           | write #parcel.getSent().toString()
            batch  | #payload                 | ExpressionReadingTests$Order                | write #payload.orderId
            whole  | #payload                 | ExpressionReadingTests$Order                | write #payload.orderId
            whole  | #orders.payload.at       | java.time.Instant                           | write #orders.payload.at.toString()
            """)
    void resultThatCanNeverBeAKeyIsRefused(String method, String expression, String problem, String remedy) {
        refused(method, expression, problem, remedy);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '"', textBlock = """
            order  | #order.total.curency         | reads the property 'curency', which    | name a property or record component of Money, such as value, currency
            order  | #order.ORDERID               | reads the property 'ORDERID'           | such as orderId, id, reference, total
            order  | #order.orderId.lenght()      | calls the method 'lenght' with 0 arguments, which java.lang.String does not have | name a property
            order  | #order.orderId.substring()   | calls the method 'substring' with 0 arguments | name a property
            order  | #order.getOrderId()          | calls the method 'getOrderId' with 0 arguments | such as orderId
            order  | #order.orderId.x             | reads the property 'x', which java.lang.String does not have | name a property
            order  | #order.parts[0].x            | reads the property 'x'                 | component of Order
            order  | #order.parts.![x]            | reads the property 'x'                 | component of Order
            order  | #order.parts.?[x == 1]       | reads the property 'x'                 | component of Order
            order  | #order['x']                  | reads the property 'x'                 | component of Order
            order  | #order[0]                    | reads an element of                    | component of Order
            order  | #order.at[0]                 | reads an element of java.time.Instant  | name a property
            order  | #order.at.?[true]            | selects of java.time.Instant, which is no collection | name a property
            order  | #order.voucher.x             | reads the property 'x', which java.util.Optional does not have | name a property
            order  | #order.voucher?.x            | reads the property 'x', which java.lang.String does not have | name a property
            order  | #order - 1                   | computes (#order - 1) of               | name properties that have a text or a number
            order  | #order.at + 5                | computes (#order.at + 5) of java.time.Instant and java.lang.Integer | name properties
            order  | #order.orderId = 'x'         | changes '#order.orderId'               | read the message only
            order  | #order.cents++               | changes '#order.cents'                 | read the message only
            order  | --#order.cents               | changes '#order.cents'                 | read the message only
            order  | #hash(#order)                | calls the function '#hash(#order)', and there are no functions | T(com.acme.Keys).hash(#order), or a bean's, such as @keys.hash(#order)
            order  | T(com.acme.Missing).of(#order) | names the class 'com.acme.Missing', which does not exist | write the class's full name
            order  | T(missing).of(#order)        | names the class 'missing'              | write the class's full name
            order  | new com.acme.Missing(#order) | names the class 'com.acme.Missing'     | write the class's full name
            order  | new String(#order, 1, 2, 3, 4, 5, 6) | calls a constructor of java.lang.String with 7 arguments | call a public constructor
            order  | T(java.util.UUID).frmString(#order.orderId) | calls the method 'frmString' with 1 arguments, which java.util.UUID | name
            order  | T(java.util.UUID).toString(#order.orderId, 1) | calls the method 'toString' with 2 arguments | name
            order  | T(Integer).MAX + #order.orderId | reads the property 'MAX'             | name
            order  | @keys.of(#order)             | names the bean '@keys', which does not exist | declare a bean of this name
            order  | #p3.orderId                  | unknown argument '#p3'                 | use one of
            order  | #order.orderId ? : 'x'       | does not parse                         | write SpEL
            """)
    void expressionThatAlwaysFailsIsRefused(String method, String expression, String problem, String remedy) {
        refused(method, expression, problem, remedy);
    }

    /** A sender can write a number with millions of digits in ten characters, such as {@code 1e30000000}. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '"', textBlock = """
            order  | #order.amount + 1                | computes (#order.amount + 1) of a BigDecimal
            order  | 1 - #order.amount                | computes (1 - #order.amount) of a BigDecimal
            order  | #order.amount / 3                | computes (#order.amount / 3) of a BigDecimal
            order  | #order.amount % 10               | computes (#order.amount % 10) of a BigDecimal
            order  | #order.amount ^ 2                | computes (#order.amount ^ 2) of a BigDecimal
            order  | #order.total.value.toPlainString() | calls toPlainString() of a BigDecimal
            order  | #order.amount.setScale(2)        | calls setScale() of a BigDecimal
            order  | #order.amount.toBigInteger()     | calls toBigInteger() of a BigDecimal
            order  | #order.amount.add(#order.total.value) | calls add() of a BigDecimal
            order  | #order.amount.toBigInteger().pow(9) | calls toBigInteger() of a BigDecimal
            """)
    void numberWhoseDigitsASenderChoosesIsNotWrittenOut(String method, String expression, String problem) {
        refused(method, expression, problem, "name the number itself");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "#order.amount * 100",
                "-#order.amount",
                "#order.amount.negate()",
                "'x' + #order.amount",
                "#order.amount > 1 ? #order.orderId : 'small'",
                "#order.cents + 1"
            })
    void numberWhoseDigitsAreThoseOfItsTextIsComputed(String expression) {
        assertThat(ListenerRig.key(expression, ListenerRig.method(Handlers.class, "order"))
                        .text())
                .isEqualTo(expression);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '"', textBlock = """
            order  | 'orders'                         | does not depend on the message
            order  | 1                                | does not depend on the message
            order  | null                             | does not depend on the message
            order  | 'a' + 1 * 2                      | does not depend on the message
            order  | 'a'.concat('b').length()         | does not depend on the message
            order  | {1, 2}[0]                        | does not depend on the message
            order  | {1, 2}.?[#this == 1][0]          | does not depend on the message
            order  | {'a', 'b'}.^[#this == 'a']       | does not depend on the message
            order  | {'a', 'b'}.![#this + 'x'][0]     | does not depend on the message
            order  | {'x': 'y'}.x                     | does not depend on the message
            order  | {'x': 'y'}['x']                  | does not depend on the message
            order  | 'ab'[0]                          | does not depend on the message
            order  | -1                               | does not depend on the message
            order  | 2 ^ 3                            | does not depend on the message
            order  | 'a' * 3                          | does not depend on the message
            order  | 1 == 1 ? 'x' : 'y'               | does not depend on the message
            order  | T(java.time.DayOfWeek).MONDAY.name() | does not depend on the message
            order  | T(java.math.BigInteger).TEN      | does not depend on the message
            order  | new java.math.BigInteger('7')    | does not depend on the message
            order  | T(java.util.UUID).fromString('x') | does not depend on the message
            order  | T(Integer).MAX_VALUE             | does not depend on the message
            order  | new String('x')                  | does not depend on the message
            order  | 'x' ?: #order.orderId            | does not depend on the message
            order  | true ? 'x' : #order.orderId      | does not depend on the message
            order  | #headers['Sqs_QueueName']        | reads only what messages share
            order  | #headers['Sqs_Msa_SentTimestamp'] | reads only what messages share
            order  | #headers['Sqs_Msa_SenderId'].split(':')[0] | reads only what messages share
            order  | #headers['Sqs_QueueAttributes'].queueName + 'x' | reads only what messages share
            order  | #headers['Sqs_SourceData'].attributesAsStrings()['SenderId'] | reads only what messages share
            order  | #headers.Sqs_QueueName           | reads only what messages share
            order  | #headers.get('Sqs_QueueName')    | reads only what messages share
            order  | #headers.getOrDefault('Sqs_QueueName', 'x') | reads only what messages share
            order  | #message.headers.Sqs_QueueName   | reads only what messages share
            order  | #headers['Sqs_SourceData'].attributesAsStrings().SenderId | reads only what messages share
            order  | #headers['Sqs_SourceData'].attributesAsStrings.get('SenderId') | reads only what messages share
            order  | #headers['Sqs_SourceData'].attributes()[T(software.amazon.awssdk.services.sqs.model.MessageSystemAttributeName).SENDER_ID] | reads only what messages share
            accessor | #accessor.getHeader('Sqs_QueueName') | reads only what messages share
            queue  | #queue.queueName                 | reads only what messages share
            order  | #order.getClass().simpleName     | reads only what messages share
            order  | #order.class.name                | reads only what messages share
            order  | T(java.util.UUID).randomUUID()   | calls UUID.randomUUID, which returns another value for a redelivery
            order  | #order.orderId ?: T(java.util.UUID).randomUUID().toString() | calls UUID.randomUUID
            order  | T(System).currentTimeMillis() + #order.orderId | calls System.currentTimeMillis
            order  | T(java.time.Instant).now().toString() | calls Instant.now
            order  | T(java.time.LocalDate).now().toString() + #order.orderId | calls LocalDate.now
            order  | new java.util.Date().time        | calls new Date
            order  | T(java.util.Calendar).getInstance().timeInMillis | calls Calendar.getInstance
            order  | T(Math).random()                 | calls Math.random
            order  | T(Thread).currentThread().name   | calls Thread.currentThread
            parcel | 'x' + #parcel                    | reads toString() of
            parcel | #parcel.toString()               | reads toString() of
            parcel | #parcel.toString                 | reads toString() of
            parcel | #parcel.hashCode()               | reads hashCode() of
            order  | #order.orderId.bytes.toString()  | reads toString() of byte[]
            """)
    void keyThatDoesNotDependOnTheMessageOrIsAnotherForARedeliveryIsRefused(
            String method, String expression, String problem) {
        refused(method, expression, problem, "");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "#headers['id']",
                "#headers.id",
                "#headers.Id",
                "#headers?.id",
                "#headers?.['id']",
                "#headers[id]",
                "#headers['i' + 'd']",
                "#headers['ID'.toLowerCase()]",
                "#headers[T(org.springframework.messaging.MessageHeaders).ID]",
                "#headers[{'x': 'id'}['x']]",
                "#headers.getId()",
                "#headers.get('id')",
                "#headers.get('id', T(java.util.UUID))",
                "#headers.getOrDefault('id', 'x')",
                "#headers['timestamp']",
                "#headers.timestamp",
                "#headers.getTimestamp()",
                "#message.headers['id']",
                "#message.headers.id",
                "#message?.headers?.id",
                "#message.getHeaders().get('id')",
                "'x' + #headers['id']",
                "#order.orderId + #headers['id']",
                "#order.orderId ?: #headers['id']",
                "#order.express ? #order.orderId : #headers.timestamp",
                "#order.orderId.concat(#headers['id'])",
                "T(java.util.UUID).fromString(#headers['id'].toString())",
                "#order[#headers['id'].toString()]",
                "#order.tags.?[#this == #headers['id']][0]",
                "#headers['Sqs_ReceiptHandle']",
                "#headers['Sqs_ReceivedAt'].toString()",
                "#headers['Sqs_VisibilityTimeout'].toString()",
                "#headers['Sqs_ReceiveRequestAttemptId']",
                "#headers['Sqs_Msa_ApproximateReceiveCount']",
                "#headers['Sqs_Msa_ApproximateFirstReceiveTimestamp']",
                "#headers.Sqs_Msa_ApproximateReceiveCount",
                "#headers['Sqs_Msa_messageId']",
                "#headers['Sqs_Msa_MessageId']",
                "#headers['AcknowledgementCallback'].toString()",
                "#headers['ExactlyOnce_ReceivedMessage'].toString()",
                "#headers['micrometer.observation'].toString()",
                "#headers['Sqs_SourceData'].receiptHandle()",
                "#headers['Sqs_SourceData'].receiptHandle",
                "#headers['Sqs_SourceData'].toString()",
                "#headers['Sqs_SourceData'].toBuilder().build().messageId()",
                "'' + #headers['Sqs_SourceData']",
                "#headers['Sqs_SourceData'].attributes()['APPROXIMATE_RECEIVE_COUNT']",
                "#headers['Sqs_SourceData'].attributesAsStrings()['ApproximateReceiveCount']",
                "#headers['Sqs_SourceData'].attributesAsStrings().ApproximateReceiveCount",
                "#headers['Sqs_SourceData'].attributesAsStrings().get('ApproximateReceiveCount')",
                "#headers['Sqs_SourceData'].attributesAsStrings.toString()",
                "#headers['Sqs_SourceData'].attributes().get(T(software.amazon.awssdk.services.sqs.model.MessageSystemAttributeName).APPROXIMATE_RECEIVE_COUNT)",
                "'' + #headers",
                "#headers.toString()",
                "#headers.hashCode()",
                "#headers.values()[0]",
                "#headers.values.toString()",
                "#headers.entrySet()[0].value",
                "#headers.?[key == 'id'].toString()",
                "#headers.![value][0]",
                "'' + #message",
                "#message.toString()",
                "#message.hashCode()",
                "''.concat(#headers)",
                "T(String).valueOf(#headers)",
                "'%s'.formatted(#headers)"
            })
    void headerThatTheFrameworkMakesIsRefusedInEverySpelling(String expression) {
        Method method = ListenerRig.method(Handlers.class, "order");

        assertThatThrownBy(() -> ListenerRig.key(expression, method))
                .isInstanceOfSatisfying(
                        InvalidListenerException.class,
                        invalid -> assertThat(invalid.problem())
                                .containsAnyOf("reads the header '", "reads the receipt handle", "reads all of"));
        assertThatThrownBy(() -> ListenerRig.fingerprint("{#order.cents, " + expression + "}", method))
                .isInstanceOf(InvalidListenerException.class)
                .hasMessageContaining("fingerprint expression");
    }

    @ParameterizedTest
    @CsvSource({
        "id, #number",
        "idByConstant, #number.toString()",
        "idByName, #id",
        "handle, #handle",
        "headers, #all['id']",
        "headers, #all.timestamp",
        "headers, #all.toString()",
        "messageHeaders, #all.id",
        "accessor, #accessor.id",
        "accessor, #accessor.getId()",
        "accessor, #accessor.timestamp",
        "accessor, #accessor.getHeader('id')",
        "accessor, #accessor.toMap()['id']",
        "accessor, #accessor.messageHeaders.id",
        "accessor, #accessor.toMessageHeaders().id",
        "accessor, #accessor.toString()",
        "accessor, '#accessor.getDetailedLogMessage(\"x\")'",
        "whole, #orders.headers.id",
        "whole, #orders.headers['timestamp']",
        "sdk, #source.receiptHandle()",
        "sdk, #source.attributesAsStrings()['ApproximateReceiveCount']",
        "sdk, #source.toString()",
        "batch, #headers.id",
        "batch, #message.headers['timestamp']"
    })
    void argumentThatIsAHeaderOfTheFrameworkIsRefused(String method, String expression) {
        assertThatThrownBy(() -> ListenerRig.key(expression, ListenerRig.method(Handlers.class, method)))
                .isInstanceOfSatisfying(
                        InvalidListenerException.class,
                        invalid -> assertThat(invalid.problem())
                                .containsAnyOf("reads the header '", "reads the receipt handle", "reads all of"));
    }

    @Test
    void refusalOfAHeaderNamesTheWayToTheSendersAttribute() {
        Method method = ListenerRig.method(Handlers.class, "order");
        String attribute = "#headers['Sqs_SourceData'].messageAttributes()['id'].stringValue()";

        assertThatThrownBy(() -> ListenerRig.key("#headers['id']", method))
                .isInstanceOfSatisfying(
                        InvalidListenerException.class,
                        invalid -> assertThat(invalid.remedy()).contains("write " + attribute));

        var source = software.amazon.awssdk.services.sqs.model.Message.builder()
                .messageAttributes(Map.of(
                        "id",
                        MessageAttributeValue.builder()
                                .dataType("String")
                                .stringValue("A-1")
                                .build()))
                .build();
        Message<?> message = MessageBuilder.withPayload("{}")
                .setHeader(SqsHeaders.SQS_SOURCE_DATA_HEADER, source)
                .build();
        assertThat(ListenerRig.key(attribute, method).evaluate(message)).isEqualTo("A-1");
        assertThat(ListenerRig.fingerprint(attribute, method).evaluate(message)).isEqualTo("A-1");
    }

    /** Each header of Spring, Spring Cloud AWS and SQS must be accepted or refused, so a new header fails this test. */
    @Test
    void everyHeaderOfTheFrameworkIsJudged() throws IllegalAccessException {
        List<String> names = new ArrayList<>();
        for (Class<?> type : List.of(
                SqsHeaders.class,
                SqsHeaders.MessageSystemAttributes.class,
                MessagingHeaders.class,
                MessageHeaders.class)) {
            for (Field field : type.getFields()) {
                if (field.getType() == String.class && !field.getName().endsWith("_PREFIX")) {
                    names.add((String) field.get(null));
                }
            }
        }
        MessageSystemAttributeName.knownValues().stream()
                .filter(attribute -> attribute != MessageSystemAttributeName.ALL)
                .forEach(attribute -> names.add(SqsHeaders.MessageSystemAttributes.SQS_MSA_HEADER_PREFIX + attribute));

        assertThat(names)
                .contains("id", "Sqs_ReceiptHandle", "Sqs_Msa_SenderId", "AcknowledgementCallback")
                .allSatisfy(name -> assertThat(FrameworkHeaders.isJudged(name) || ATTRIBUTES.contains(name))
                        .as(name)
                        .isTrue());
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '"', textBlock = """
            order  | #headers['tenant']                           | acme
            order  | #headers.tenant                              | acme
            order  | #headers['ID']                               | upper
            order  | #headers.get('tenant')                       | acme
            order  | #headers.getOrDefault('x', #order.orderId)   | A-1
            order  | #headers[#order.notes['header']]             | acme
            order  | #headers['Sqs_RawMessageId']                 | raw-1
            order  | #headers['Sqs_Msa_MessageDeduplicationId']   | dedup
            order  | #headers['Sqs_Msa_SenderId'].split(':')[0] + '/' + #order.orderId | sender/A-1
            order  | #headers['Sqs_QueueName'] + #order.orderId   | ordersA-1
            order  | #headers['Sqs_SourceData'].messageId()       | raw-1
            order  | #headers['Sqs_SourceData'].body()            | body
            order  | #headers['Sqs_SourceData'].attributesAsStrings()['MessageGroupId'] | group
            order  | #headers['Sqs_SourceData'].messageAttributes()['id']?.stringValue() ?: #order.orderId | A-1
            sdk    | #source.messageId()                          | raw-1
            headers | #all['tenant']                              | acme
            accessor | #accessor.getHeader('tenant')              | acme
            order  | #order.orderId                               | A-1
            order  | #order.orderId()                             | A-1
            order  | #order.id.value                              | 00000000-0000-0003-0000-000000000004
            order  | #order.reference.id.value.toString().length() | 36
            order  | #order.at.toString()                         | 1970-01-01T00:00:00Z
            order  | #order.at.epochSecond                        | 0
            order  | #order.day.time                              | 1
            order  | #order.orderId + '/' + #order.cents          | A-1/7
            order  | 'order-' + #order.orderId                    | order-A-1
            order  | #order.cents                                 | 7
            order  | #order.cents + 1                             | 8
            order  | #order.amount                                | 1.50
            order  | #order.status                                | OPEN
            order  | #order.status.name()                         | OPEN
            order  | #order.status.declaringClass.OPEN            | OPEN
            order  | #order.voucher.orElse('none')                | V-1
            order  | #order.voucher ?: 'none'                     | V-1
            order  | #order.voucher?.trim()                       | V-1
            order  | #order.voucher?.length()                     | 3
            order  | #order.voucher.get()                         | V-1
            order  | #order.tags[0]                               | t1
            order  | #order.tags.^[#this != 't1']                 | t2
            order  | #order.parts.![orderId][0]                   | B-1
            order  | #order.parts.?[cents > 3][0].orderId         | B-1
            order  | #order.parts.^[orderId.startsWith('B')].orderId | B-1
            order  | #order.notes['header']                       | tenant
            order  | #order.notes[header]                         | tenant
            order  | #order.notes.header                          | tenant
            order  | #order['orderId']                            | A-1
            order  | #order.express ? #order.orderId : null       | A-1
            order  | #order.cents > 3 ? 'big' : 'small'           | big
            order  | #order.tags.size()                           | 2
            order  | #order.orderId.bytes.length                  | 3
            order  | T(java.util.UUID).fromString(#order.id.value.toString()) | 00000000-0000-0003-0000-000000000004
            order  | T(org.springframework.util.DigestUtils).md5DigestAsHex(#order.orderId.getBytes('UTF-8')).length() | 32
            order  | T(String).join('/', #order.orderId, #order.status.name()) | A-1/OPEN
            order  | '%s/%s'.formatted(#order.orderId, #order.cents) | A-1/7
            order  | new java.math.BigInteger(#order.cents.toString()) | 7
            order  | new java.util.Date(#order.cents).time        | 7
            order  | T(java.util.Currency).getInstance('EUR').currencyCode + #order.orderId | EURA-1
            order  | #headers.getOrDefault('tenant', 'x')         | acme
            order  | new String[] {#order.orderId, 'x'}[0]        | A-1
            order  | {#order.orderId, 'x'}[0]                     | A-1
            order  | {'id': #order.orderId}.id                    | A-1
            order  | #payload.orderId                             | A-1
            order  | #message.payload.orderId                     | A-1
            order  | #p0.orderId                                  | A-1
            untyped | #order.orderId                              | A-1
            untyped | #order.parts[0]['orderId']                  | B-1
            whole  | #orders.payload.orderId                      | A-1
            whole  | #payload.orderId                             | A-1
            batch  | #payload.orderId                             | A-1
            two    | #tenant + #order.orderId                     | acmeA-1
            """)
    void expressionThatCanBeAKeyIsEvaluated(String method, String expression, String key) {
        Order part = order("B-1", List.of());
        var source = software.amazon.awssdk.services.sqs.model.Message.builder()
                .messageId("raw-1")
                .body("body")
                .attributes(Map.of(MessageSystemAttributeName.MESSAGE_GROUP_ID, "group"))
                .build();
        Message<?> message = MessageBuilder.withPayload(order("A-1", List.of(part)))
                .setHeader("tenant", "acme")
                .setHeader("ID", "upper")
                .setHeader("Sqs_RawMessageId", "raw-1")
                .setHeader("Sqs_QueueName", "orders")
                .setHeader("Sqs_Msa_SenderId", "sender:session")
                .setHeader("Sqs_Msa_MessageDeduplicationId", "dedup")
                .setHeader(SqsHeaders.SQS_SOURCE_DATA_HEADER, source)
                .build();

        KeyExpression read = ListenerRig.key(expression, ListenerRig.method(Handlers.class, method));

        assertThat(read.evaluate(message)).hasToString(key);
    }

    private static Order order(String id, List<Order> parts) {
        OrderId uuid = new OrderId(new UUID(3, 4));
        return new Order(
                id,
                uuid,
                new Reference(uuid),
                new Money(BigDecimal.ONE, "EUR"),
                Instant.EPOCH,
                new Date(1),
                7,
                2.5,
                1f,
                new BigDecimal("1.50"),
                true,
                Status.OPEN,
                List.of("t1", "t2"),
                parts,
                Map.of("header", "tenant"),
                Optional.of("V-1"),
                'A');
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{#order.orderId, #order.price, null}",
                "#order.tags",
                "#order.price",
                "{#order.tags, #order.cents}",
                "#order.parts.![orderId]",
                "#order.orderId"
            })
    void listsAndRoundedNumbersCanBeCompared(String expression) {
        assertThat(ListenerRig.fingerprint(expression, ListenerRig.method(Handlers.class, "order"))
                        .evaluate(new GenericMessage<>(order("A-1", List.of()))))
                .isNotNull();
    }

    @ParameterizedTest
    @CsvSource({
        "'{#order.orderId, #order.at}', #order.at.toString()",
        "'{#order.orderId, #order.express}', #order.express.toString()",
        "'{#order.orderId, #order.cents > 3}', (#order.cents > 3).toString()",
        "#order.parts, name one of its elements",
        "#order.notes, name one of its entries",
        "'#order.parts.![at]', name one of its elements"
    })
    void contentThatCannotBeComparedIsRefused(String expression, String remedy) {
        assertThatThrownBy(() -> ListenerRig.fingerprint(expression, ListenerRig.method(Handlers.class, "order")))
                .isInstanceOfSatisfying(InvalidListenerException.class, invalid -> {
                    assertThat(invalid.problem()).contains("which cannot be a fingerprint");
                    assertThat(invalid.remedy()).contains(remedy);
                });
    }

    @Test
    void fingerprintThatIsTheSameForAllIsRefusedWithTheSetting() {
        assertThatThrownBy(() -> ListenerRig.fingerprint("'x'", ListenerRig.method(Handlers.class, "order")))
                .isInstanceOfSatisfying(InvalidListenerException.class, invalid -> {
                    assertThat(invalid.problem())
                            .contains("fingerprint expression ''x'' does not depend on the message");
                    assertThat(invalid.remedy()).contains("#order.amount", "on-mismatch: off");
                });
    }

    /** SpEL cannot read the fields or elements of a JSON node by name. */
    @ParameterizedTest
    @ValueSource(strings = {"#order.id", "#order['id']", "#order['id'].asString()", "#payload.id"})
    void fieldOfAJsonNodeIsRefusedAndTheRemedyWorks(String expression) {
        refused(
                "json",
                expression,
                "reads the property 'id', which tools.jackson.databind.JsonNode does not have",
                ".get('id').asString()");

        JsonNode node = JsonMapper.shared().readTree("{\"id\":\"A-1\"}");
        assertThat(ListenerRig.key("#order.get('id').asString()", ListenerRig.method(Handlers.class, "json"))
                        .evaluate(new GenericMessage<>(node)))
                .isEqualTo("A-1");
    }

    private static void refused(String method, String expression, String problem, String remedy) {
        assertThatThrownBy(() -> ListenerRig.key(expression, ListenerRig.method(Handlers.class, method)))
                .isInstanceOfSatisfying(InvalidListenerException.class, invalid -> {
                    assertThat(invalid.problem())
                            .contains("Handlers." + method + ": key expression '" + expression + "' ", problem);
                    assertThat(invalid.remedy()).contains(remedy);
                });
    }
}
