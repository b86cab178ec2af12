import BLEWire

/// A table of links in the order of their handles.
///
/// The actions of a host must not depend on hashing, so no code of the host iterates over a `Dictionary`. A controller
/// has at most a few hundred links with small handles, for which a sorted array is also faster.
struct ConnectionTable<Value> {
    /// The handles, in ascending order.
    ///
    /// They are stored separately from the values, which are large, so that a search copies no values.
    private(set) var handles: [ConnectionHandle] = [] { didSet { indices = LinkIndex(handles) } }
    private var indices = LinkIndex()
    /// The values, in the order of ``handles``.
    ///
    /// They are changed only in place, at an index from ``index(of:)``.
    var values: [Value] = []

    var count: Int { handles.count }

    /// The value of `handle`; `nil` if there is no such link.
    ///
    /// Setting `nil` removes the link.
    subscript(handle: ConnectionHandle) -> Value? {
        get { index(of: handle).map { values[$0] } }
        set {
            switch (index(of: handle), newValue) {
            case (let index?, let value?): values[index] = value
            case (let index?, nil):
                handles.remove(at: index)
                values.remove(at: index)
            case (nil, let value?):
                let index = index(after: handle) ?? count
                handles.insert(handle, at: index)
                values.insert(value, at: index)
            case (nil, nil): break
            }
        }
    }

    /// Changes the value of `handle` in place, and returns the result of `body`; returns `nil`, without side effects,
    /// if there is no such link.
    @discardableResult
    mutating func update<Result>(_ handle: ConnectionHandle, _ body: (inout Value) -> Result) -> Result? {
        index(of: handle).map { body(&values[$0]) }
    }

    /// Returns the current index of `handle`; `nil` if there is no such link.
    func index(of handle: ConnectionHandle) -> Int? { indices[handle] }

    /// Returns the handle at an index in `0..<count`.
    func handle(at index: Int) -> ConnectionHandle { handles[index] }

    /// Returns the first index whose handle is greater than `handle`; `nil` if there is none.
    func index(after handle: ConnectionHandle) -> Int? { handles.firstIndex { $0 > handle } }

    /// Returns the lowest handle whose value satisfies `fits`; `nil` if there is none.
    func handle(where fits: (Value) -> Bool) -> ConnectionHandle? {
        values.firstIndex(where: fits).map { handles[$0] }
    }

    mutating func removeAll() {
        handles.removeAll()
        values.removeAll()
    }
}

/// A lookup table that maps the handles of links to their indices in a sorted table.
///
/// A search takes constant time.
struct LinkIndex {
    /// For each handle up to the highest one, the index plus one; zero if there is no link.
    private var indices: [UInt16] = []

    /// Creates the lookup table for links in ascending order of their handles.
    init(_ handles: [ConnectionHandle] = []) {
        guard let last = handles.last else { return }
        indices = [UInt16](repeating: 0, count: Int(last.wire) + 1)
        for (index, handle) in handles.enumerated() { indices[Int(handle.wire)] = UInt16(index + 1) }
    }

    /// The index of a link; `nil` if there is no such link.
    subscript(handle: ConnectionHandle) -> Int? {
        let wire = Int(handle.wire)
        guard wire < indices.count, indices[wire] > 0 else { return nil }
        return Int(indices[wire]) - 1
    }
}
