public import CoreBluetooth
public import Foundation
import ShimOpenCombine

extension NSObject {
    /// A publisher of the values of an observed property.
    public struct KeyValueObservingPublisher<Subject: NSObject, Value>: ShimOpenCombine.Publisher {
        public typealias Output = Value
        public typealias Failure = Never

        fileprivate let values: AnyPublisher<Value, Never>

        public func receive<S: Subscriber>(subscriber: S) where S.Input == Value, S.Failure == Never {
            values.receive(subscriber: subscriber)
        }
    }
}

extension _KeyValueCodingAndObserving {
    /// Returns a publisher of the values of a property of a manager or a peripheral.
    public func publisher<Value>(
        for keyPath: KeyPath<Self, Value>,
        options: NSKeyValueObservingOptions = [.initial, .new]
    ) -> NSObject.KeyValueObservingPublisher<Self, Value> {
        let values = Deferred {
            let subject = PassthroughSubject<Value, Never>()
            let initial = options.contains(.initial) ? [self[keyPath: keyPath]] : []
            nonisolated(unsafe) let path = keyPath
            let observation = self.observe(keyPath) { object, _ in subject.send(object[keyPath: path]) }
            return subject.handleEvents(receiveCancel: { observation.invalidate() }).prepend(initial)
        }
        return NSObject.KeyValueObservingPublisher(values: values.eraseToAnyPublisher())
    }
}
