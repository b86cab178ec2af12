/// An object of the facade that another thread may use.
///
/// Apple's classes are not `Sendable`, and neither are ours; yet their methods may be called from any thread, since
/// what they hold is behind a lock.
struct Unchecked<Object>: @unchecked Sendable {
    let object: Object
    init(_ object: Object) { self.object = object }
}
